import { describe, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/lib/index.ts';
import type { RecordedEvent } from '../../src/state/index.ts';
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
  statusOf,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';

const LEASE_MS = 10_000;
const FREEZE_MS = 3 * LEASE_MS;
/** Most of the time nothing runs. */
const WIDTH = 5;

const MOMENTS: RecordedEvent['type'][] = [
  'worker-starting',
  'attempt-started',
  'attempt-verifying',
  'gates-started',
  ...(SOAK ? (['run-started', 'worker-started', 'worker-phase', 'attempt-accepted', 'level-published'] as const) : []),
];

/** The orchestrator, its workers and all they have started; those that appear while the others are being stopped, too. */
async function freeze(chaos: Chaos, live: LiveRun): Promise<readonly number[]> {
  const frozen = new Set([live.pid]);
  killIfThere(live.pid, 'SIGSTOP');
  const { runId } = stateSoFar(chaos.project) ?? { runId: 'none' };
  for (let before = 0; before !== frozen.size;) {
    before = frozen.size;
    for (const pid of await findByEnvironment('MAHABHARATHA_RUN', runId)) {
      killIfThere(pid, 'SIGSTOP');
      frozen.add(pid);
    }
  }
  return [...frozen];
}

async function standStill(chaos: Chaos, live: LiveRun, when: () => boolean): Promise<void> {
  expect(await sees(live, when)).toBe(true);
  const frozen = await freeze(chaos, live);
  await delay(FREEZE_MS);
  await letGo(chaos);
  const watching = new Set([
    live.pid,
    ...Object.values(stateSoFar(chaos.project)?.workers ?? {}).map(({ pid }) => pid),
  ]);
  for (const pid of frozen) if (watching.has(pid)) killIfThere(pid, 'SIGCONT');
  // What is watched wakes up later: if the limits still counted the standstill, they would strike now.
  await delay(300);
  for (const pid of frozen) killIfThere(pid, 'SIGCONT');
}

const expectNothingLost = (chaos: Chaos): void => {
  const lost = eventsSoFar(chaos.project).filter(
    (event) => event.type === 'attempt-failed' || (event.type === 'worker-exited' && !event.expected),
  );
  expect(lost).toEqual([]);
};

describe(`all processes of a run stand still for three leases (${MOMENTS_TRIED})`, () => {
  it('and it goes on afterwards without a loss', async () => {
    await atEach(
      MOMENTS,
      (moment) => `frozen after ${moment}`,
      async (chaos, moment) => {
        // A short verification may be over before the orchestrator hears of it.
        const verifySeconds = moment === 'attempt-verifying' ? 3 : 0.05;
        const tasks = await standardFeature(chaos, `${LEASE_MS}ms`, { verifySeconds });
        const live = chaos.project.start('kurukshetra');
        await standStill(chaos, live, () => eventsSoFar(chaos.project).some(({ type }) => type === moment));
        await expectBuilt(chaos, await live.end, tasks);
        expectNothingLost(chaos);
      },
      WIDTH,
    );
  });

  it('and no task fails by a time limit', async () => {
    await atEach(
      ['idle', 'total', 'set-up', 'verification', 'gate'] as const,
      String,
      async (chaos, limit) => {
        const { project } = chaos;
        // What is limited goes on until the standstill, so that it is met, and a moment longer.
        const held = `until [ -e '${chaos.outside}/go' ]; do sleep 0.02; done; sleep 0.5`;
        const command = (where: string): string => (where === limit ? held : 'true');
        await project.config(
          [
            `workers: { count: 1, lease: 30s, task_timeout: ${limit === 'total' ? '20s' : '1h'}, idle_timeout: ${limit === 'idle' ? '20s' : '1h'}, setup: "${command('set-up')}", setup_timeout: ${limit === 'set-up' ? '20s' : '1h'} }`,
            `gates: [{ name: all, command: "${command('gate')}", timeout: ${limit === 'gate' ? '20s' : '1h'} }]`,
            '',
          ].join('\n'),
        );
        const verification = {
          command: command('verification'),
          timeout_seconds: limit === 'verification' ? 20 : 3600,
        };
        const runs = limit === 'idle' || limit === 'total' ? held : 'true';
        await project.graph('login', [
          { id: 'A', create: ['A.txt'], run: `${runs}; echo made by A > A.txt`, verification },
        ]);
        const live = project.start('kurukshetra');
        const phases = {
          idle: 'running',
          total: 'running',
          'set-up': 'setup',
          verification: 'verifying',
          gate: 'gating',
        };
        await standStill(chaos, live, () => statusOf(project, 0)?.phase === phases[limit]);
        await expectBuilt(chaos, await live.end, ['A']);
        expectNothingLost(chaos);
      },
      WIDTH,
    );
  });
});
