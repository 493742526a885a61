import { describe, expect, it } from 'vitest';
import { SAME_MOMENT_MS } from '../../src/lib/index.ts';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  delay,
  eventsSoFar,
  expectBuilt,
  killIfThere,
  letGo,
  sees,
  standardFeature,
  stateSoFar,
  tracedTask,
  withChaos,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import type { RecordedEvent } from '../../src/state/index.ts';
import type { CliResult } from '../support/project.ts';

const EXITS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type EndSignal = keyof typeof EXITS;
const SIGNALS: EndSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

const MOMENTS: RecordedEvent['type'][] = [
  'run-started',
  'worker-starting',
  'worker-started',
  'attempt-started',
  'worker-phase',
  'attempt-verifying',
  'attempt-accepted',
  'task-merged',
  'gates-started',
  'level-published',
];

interface Point {
  readonly moment: RecordedEvent['type'];
  readonly signal: EndSignal;
}

const POINTS: Point[] = MOMENTS.flatMap((moment, index) =>
  SOAK ? SIGNALS.map((signal) => ({ moment, signal })) : [{ moment, signal: SIGNALS[index % 3] ?? 'SIGINT' }],
);

const START_UPS = Array.from({ length: SOAK ? 40 : 6 }, (_, index) => ({
  afterMs: Math.round(20 + (index * 400) / (SOAK ? 40 : 6)),
  signal: SIGNALS[index % 3] ?? ('SIGINT' as const),
}));

const has = (chaos: Chaos, type: RecordedEvent['type']): boolean =>
  eventsSoFar(chaos.project).some((event) => event.type === type);

/** A run whose task ignores signals, so that its end takes a while. */
async function startDeaf(chaos: Chaos): Promise<LiveRun> {
  const deaf = `trap '' TERM INT HUP; echo "T $$" >> '${chaos.outside}/ran'; setsid sleep 300 & sleep 300; sleep 300`;
  await chaos.project.graph('login', [tracedTask(chaos, 'T', { run: deaf })]);
  const live = chaos.project.start('kurukshetra');
  await sees(live, () => chaos.started('T'));
  return live;
}

async function expectStopped(chaos: Chaos, end: CliResult, exit: number): Promise<void> {
  expect(end.exit, `${end.stdout}\n${end.stderr}`).toBe(exit);
  expectSound(chaos.project, 'a run that was stopped');
  const state = await chaos.project.state();
  expect(state.status).toBe('stopped');
  expect(Object.values(state.tasks).map(({ failures, losses }) => failures + losses)).toEqual(
    Object.values(state.tasks).map(() => 0),
  );
  expect(Object.values(state.tasks).filter(({ status }) => status === 'running' || status === 'verifying')).toEqual([]);
  expect(Object.values(state.workers).filter(({ status }) => status !== 'STOPPED')).toEqual([]);
}

async function resumed(chaos: Chaos): Promise<CliResult> {
  return chaos.project.cli('kurukshetra', ...(stateSoFar(chaos.project) === undefined ? [] : ['--resume']));
}

describe(`a run that is interrupted (${MOMENTS_TRIED})`, () => {
  it('ends in order at any moment, charges no task, and goes on when resumed', async () => {
    await atEach(
      POINTS,
      ({ moment, signal }) => `${signal} after ${moment}`,
      async (chaos, { moment, signal }) => {
        // On a busy machine a short verification is over before the orchestrator hears of it.
        const verifySeconds = moment === 'attempt-verifying' ? 3 : 0.05;
        const tasks = await standardFeature(chaos, '10s', { verifySeconds, held: 'C' });
        const live = chaos.project.start('kurukshetra');
        await sees(live, () => has(chaos, moment));
        killIfThere(live.pid, signal);
        await expectStopped(chaos, await live.end, EXITS[signal]);
        await letGo(chaos);
        expect((await chaos.project.state()).cause).toContain(signal);
        const before = Object.values((await chaos.project.state()).tasks).filter(({ commit }) => commit !== null);
        await expectBuilt(chaos, await resumed(chaos), tasks);
        const after = (await chaos.project.state()).tasks;
        for (const { title, commit } of before) {
          expect(Object.values(after).find((task) => task.title === title)?.commit).toBe(commit);
        }
      },
    );
  });

  it('ends at once while it is still starting up', async () => {
    await atEach(
      START_UPS,
      ({ afterMs, signal }) => `${signal} after ${afterMs} ms`,
      async (chaos, { afterMs, signal }) => {
        const tasks = await standardFeature(chaos, '10s', { held: 'C' });
        const live = chaos.project.start('kurukshetra');
        await delay(afterMs);
        killIfThere(live.pid, signal);
        const end = await live.end;
        await letGo(chaos);
        if (end.signal === null) expect(end.exit, end.stderr).toBe(EXITS[signal]);
        else expect(end.signal, 'the program was not even there yet').toBe(signal);
        if (stateSoFar(chaos.project) !== undefined) await expectStopped(chaos, end, EXITS[signal]);
        await expectBuilt(chaos, await resumed(chaos), tasks);
      },
    );
  });

  it('keeps what an interrupted attempt has done so far under a ref of its own', async () => {
    await atEach(['SIGINT', 'stop'], String, async (chaos, how) => {
      const { project } = chaos;
      const slow = `echo half > T.txt; echo "T $$" >> '${chaos.outside}/ran'; sleep 3600`;
      await project.graph('login', [tracedTask(chaos, 'T', { run: slow }), tracedTask(chaos, 'U', { seconds: 0 })]);
      const live = project.start('kurukshetra');
      await sees(live, () => has(chaos, 'task-merged'));
      await sees(live, () => chaos.started('T'));
      if (how === 'stop') {
        const stop = await project.cli('stop');
        expect(stop.exit, stop.stderr).toBe(0);
        expect(stop.stdout).toContain('Run of "login" is stopped');
      } else killIfThere(live.pid, 'SIGINT');
      await expectStopped(chaos, await live.end, how === 'stop' ? 143 : 130);
      expect(project.git('show', 'refs/mahabharatha/login/T/1:T.txt')).toBe('half\n');
      await project.graph('login', [tracedTask(chaos, 'T'), tracedTask(chaos, 'U')]);
      await expectBuilt(chaos, await project.cli('kurukshetra', '--resume'), ['T', 'U']);
      expect((await chaos.ran()).map(({ task }) => task)).toContain('U');
      expect(await chaos.timesRan('U'), 'it was done before').toBe(1);
    });
  });

  it('waits for a task that ignores signals, but not after a second signal', async () => {
    const waited = { once: 0, twice: 0 };
    await atEach(['once', 'twice'] as const, String, async (chaos, how) => {
      const { project } = chaos;
      const live = await startDeaf(chaos);
      let asked = performance.now();
      killIfThere(live.pid, 'SIGINT');
      if (how === 'twice') {
        await sees(live, () => live.output().includes('SIGINT: stopping'));
        await delay(SAME_MOMENT_MS + 50);
        asked = performance.now();
        killIfThere(live.pid, 'SIGINT');
      }
      const end = await live.end;
      waited[how] = performance.now() - asked;
      expect(end.exit, end.stderr).toBe(130);
      expect(await project.processes()).toEqual([]);
      if (how === 'once') await expectStopped(chaos, end, 130);
      const status = await project.cli('status', '--json');
      expect(JSON.parse(status.stdout)).toMatchObject({ status: 'stopped', orchestrator: null });
      await project.graph('login', [tracedTask(chaos, 'T')]);
      await expectBuilt(chaos, await project.cli('kurukshetra', '--resume'), ['T']);
    });
    expect(waited.once).toBeGreaterThan(4000);
    expect(waited.twice).toBeLessThan(waited.once);
  });
});

/** The run stops, and `stop` waits for its end. */
async function stopping(chaos: Chaos): Promise<[run: LiveRun, stop: LiveRun]> {
  const live = await startDeaf(chaos);
  const stop = chaos.project.start('stop');
  await sees(live, () => live.output().includes('SIGTERM: stopping'));
  return [live, stop];
}

describe('stop', () => {
  it('ends what an orchestrator has left that is killed meanwhile, and does not say that the run is running', async () => {
    await withChaos(async (chaos) => {
      const [live, stop] = await stopping(chaos);
      killIfThere(live.pid, 'SIGKILL');
      const end = await stop.end;
      expect(end.stdout).toMatch(/^The orchestrator of "login" was gone; ended \d+ processes that it had left\.\n$/);
      expect(end.exit, end.stderr).toBe(0);
      expect(await chaos.project.processes()).toEqual([]);
    });
  });

  it('that is interrupted while it waits says nothing of the time that a run may take to end', async () => {
    await withChaos(async (chaos) => {
      const [live, stop] = await stopping(chaos);
      killIfThere(stop.pid, 'SIGINT');
      const end = await stop.end;
      expect(end.exit).toBe(130);
      expect(end.stderr).not.toContain('has not ended');
      await expectStopped(chaos, await live.end, 143);
    });
  });
});
