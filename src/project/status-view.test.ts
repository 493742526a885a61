import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorld, graphOf } from '../../test/support/decision-world.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { WorkerHandle } from '../launchers/index.ts';
import { workedMs } from '../orchestrator/index.ts';
import { formatMarkdown, reportOf } from '../report/index.ts';
import type { RunState, StateStore } from '../state/index.ts';
import { colorsFor } from '../cli/render/colors.ts';
import { formatStatus } from '../cli/render/status.ts';
import { formatSummary } from '../cli/render/summary.ts';
import { viewRun } from './status-view.ts';
import type { StatusView } from './status-view.ts';

const MINUTE = 60_000;
/** The run began an hour ago, and the snapshot was last written a second later. */
const began = Date.now() - 60 * MINUTE;
const at = (ms: number): string => new Date(began + ms).toISOString();

/** A run whose orchestrator was killed while worker 0 worked on A. */
function killedRun(): RunState {
  const world = createWorld([{ id: 'A' }]);
  world.settle();
  const { state } = world;
  const [task, worker] = [state.tasks['A'], state.workers['0']];
  if (task === undefined || worker === undefined) throw new Error('nothing has begun');
  const attempts = task.attempts.map((attempt) => ({ ...attempt, startedAt: at(0) }));
  const workers = { '0': { ...worker, session: 's-0', handle: {}, heartbeatAt: at(500) } };
  return {
    ...state,
    tasks: { A: { ...task, attempts } },
    workers,
    startedAt: at(0),
    drivenSince: at(0),
    updatedAt: at(1000),
  };
}

interface Circumstances {
  /** What its worker has last written of itself. */
  readonly heartbeatAt?: string;
  readonly session?: string;
  readonly alive?: boolean;
}

async function look(
  state: RunState,
  { heartbeatAt, session = 's-0', alive = false }: Circumstances,
): Promise<StatusView> {
  const folder = tempFolder();
  const status = path.join(folder, 'outbox', 'status.json');
  mkdirSync(path.dirname(status));
  const said = { version: 1, session, pid: 1, phase: 'running', attempt: 'A.1', beat: 9, at: heartbeatAt };
  const rest = { usage: null, result: null, setupFailure: null, trouble: null };
  if (heartbeatAt !== undefined) writeFileSync(status, JSON.stringify({ ...said, ...rest }));
  const paths = { worker: () => ({ status }) };
  const store = { read: async () => state, holder: async () => undefined, paths } as unknown as StateStore;
  return viewRun(store, state, {
    listLive: async () => (alive ? [{ session: 's-0' } as WorkerHandle] : []),
    holding: async () => [],
  });
}

const inWords = (view: StatusView, now = Date.now()): string => formatStatus(view, now, colorsFor(false)).toString();

describe('a run whose orchestrator was killed', () => {
  it('ended, with its task, when its worker was last heard; no time passes after that', async () => {
    const view = await look(killedRun(), { heartbeatAt: at(6000) });
    for (const later of [0, MINUTE]) {
      const text = inWords(view, Date.now() + later);
      expect(text).toMatch(/^Feature \S+: stopped \(6 s, run /);
      expect(text).toContain('attempt 1 on worker 0, 6 s; broken off');
    }
    expect(view).toMatchObject({ endedAt: at(6000), workers: { '0': { status: 'CRASHED', heartbeatAt: at(6000) } } });
  });

  it.each([
    ['was never heard', {}],
    ['has left a word of another life', { heartbeatAt: at(9000), session: 'another' }],
    ['says that it lives in the future', { heartbeatAt: at(999 * MINUTE) }],
    ['says no time at all', { heartbeatAt: 'soon' }],
  ])('ended with its last snapshot when its worker %s', async (_, circumstances) => {
    expect(inWords(await look(killedRun(), circumstances))).toMatch(/stopped \(1 s,[^]*worker 0, 1 s; broken off/);
  });

  it('says how its workers are taken over while they live, and nothing when they do not', async () => {
    const words =
      '\n1 worker lives on: mahabharatha kurukshetra --feature f --resume takes it over, else it ends by itself within the lease\n';
    expect(inWords(await look(killedRun(), { heartbeatAt: at(6000), alive: true }))).toContain(words);
    expect(inWords(await look(killedRun(), { heartbeatAt: at(6000) }))).not.toContain('--resume');
  });
});

it('a run that ended in order ended with its last event', async () => {
  const view = await look({ ...killedRun(), status: 'complete' }, { heartbeatAt: at(6000) });
  expect(inWords(view)).toMatch(/complete \(1 s,/);
});

/** A's agent has ended, and its verification has not. */
const withWork = (state: RunState): RunState => {
  const task = state.tasks['A'];
  if (task === undefined) throw new Error('nothing has begun');
  const attempts = task.attempts.map((attempt) => ({ ...attempt, commit: 'c'.repeat(40) }));
  return { ...state, tasks: { A: { ...task, status: 'verifying', attempts } } };
};

describe('work that waits for its verification', () => {
  const waits = /▷ A {2}verifying .*attempt 1 on worker 0, 1 s; its work is done and waits for its verification/;

  it.each([
    ['has stopped', 'stopped'],
    ['is paused', 'paused'],
    ['was killed', 'running'],
  ] as const)('is shown as that when the run %s, and no time passes', async (_how, status) => {
    const view = await look({ ...withWork(killedRun()), status }, {});
    for (const later of [0, MINUTE]) expect(inWords(view, Date.now() + later)).toMatch(waits);
  });

  it('is named in the summary of the run', () => {
    const state = { ...withWork(killedRun()), status: 'stopped', cause: 'Ctrl-C' } as const;
    const text = formatSummary({ state, network: undefined }, graphOf([{ id: 'A' }]));
    expect(text.toString()).toContain('A waits for its verification: its work is done');
  });
});

it('a run has taken the time in which it was driven, also when it was killed, rested and was resumed: all say the same', async () => {
  const world = createWorld([{ id: 'A' }]);
  world.settle();
  world.wait(MINUTE);
  // The last event of a driver that is then killed.
  world.reports(0, { outcome: 'verification-failed' });
  world.settle();
  world.wait(60 * MINUTE);
  world.resume();
  world.settle();
  world.wait(2 * MINUTE);
  world.reports(0, {});
  world.settle();
  const view = await look(world.state, {});
  const graph = graphOf([{ id: 'A' }]);
  expect(formatSummary({ state: world.state, network: undefined }, graph).toString()).toContain(
    '\n  time     3 min 0 s\n',
  );
  expect(inWords(view)).toMatch(/^Feature \S+: complete \(3 min 0 s,/);
  expect(formatMarkdown(reportOf(view, [], Date.now()))).toContain('**time:** 3 min 0 s, 2026-01-01 00:00 to');
  expect(workedMs(world.state, Date.now())).toBe(3 * MINUTE);
});
