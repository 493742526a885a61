import { describe, expect, it } from 'vitest';
import type { Phase } from '../../src/protocol/index.ts';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  delay,
  eventsSoFar,
  expectBuilt,
  killIfThere,
  letGo,
  seededRandom,
  sees,
  standardFeature,
  stateSoFar,
  statusOf,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';

const PHASES: (Phase | 'before it has said anything')[] = [
  'before it has said anything',
  'starting',
  'setup',
  'preparing',
  'running',
  'verifying',
  'gating',
  'idle',
];

/** A worker makes some fifteen git commands for a task: at start, to prepare, to take the work and to commit it. */
const GIT_COMMANDS = Array.from({ length: 28 }, (_, index) => index + 1).filter((nth) => SOAK || nth % 5 === 0);

const SEEDS = Array.from({ length: SOAK ? 20 : 2 }, (_, index) => index + 1);

/** The worker that is in this phase now. */
function workerIn(chaos: Chaos, phase: (typeof PHASES)[number]): number | undefined {
  const workers = Object.entries(stateSoFar(chaos.project)?.workers ?? {});
  const found = workers.find(([key, { session, status }]) => {
    if (status === 'CRASHED' || status === 'STOPPED') return false;
    const said = statusOf(chaos.project, Number(key));
    if (phase === 'before it has said anything') return said === undefined;
    return said?.session === session && said.phase === phase;
  });
  return found?.[1].pid ?? undefined;
}

async function killWorker(chaos: Chaos, live: LiveRun, phase: (typeof PHASES)[number]): Promise<boolean> {
  let pid: number | undefined;
  const seen = await sees(live, () => (pid = workerIn(chaos, phase)) !== undefined);
  if (pid !== undefined) killIfThere(pid, 'SIGKILL');
  return seen;
}

describe(`a worker that is killed with SIGKILL (${MOMENTS_TRIED})`, () => {
  it('is replaced and its task done again, at every moment', async () => {
    await atEach(
      PHASES,
      (phase) => `killed when ${phase}`,
      async (chaos, phase) => {
        const tasks = await standardFeature(chaos, '10s');
        const live = chaos.project.start('kurukshetra');
        const seen = await killWorker(chaos, live, phase);
        await expectBuilt(chaos, await live.end, tasks);
        const lost = eventsSoFar(chaos.project).filter(({ type }) => type === 'worker-exited');
        // Some phases last a few milliseconds, and are not always met.
        if (seen && phase === 'running')
          expect(lost.some((event) => 'expected' in event && !event.expected)).toBe(true);
        const failures = Object.values((await chaos.project.state()).tasks).map((task) => task.failures);
        expect(failures, 'a lost worker is not the fault of its task').toEqual([0, 0, 0, 0]);
      },
    );
  });

  it('leaves nothing half-done when it dies at any of its git commands', async () => {
    await atEach(
      GIT_COMMANDS,
      (nth) => `killed at git command ${nth}`,
      async (chaos, nth) => {
        const tasks = await standardFeature(chaos, '10s');
        await chaos.trap('worker', nth, nth % 2 === 0 ? 'after' : 'before');
        await expectBuilt(chaos, await chaos.project.cli('kurukshetra'), tasks);
        expect(chaos.trapped(), 'the git command at which it died').toBeDefined();
      },
    );
  });

  it('may be any of them at any time', async () => {
    await atEach(
      SEEDS,
      (seed) => `seed ${seed}`,
      async (chaos, seed) => {
        const random = seededRandom(seed);
        const tasks = await standardFeature(chaos, '10s');
        const live = chaos.project.start('kurukshetra');
        for (let kills = 0; kills < 4; kills++) {
          await Promise.race([delay(50 + random() * 500), live.end]);
          const pids = Object.values(stateSoFar(chaos.project)?.workers ?? {}).map(({ pid }) => pid);
          const pid = pids[Math.floor(random() * pids.length)];
          if (pid != null) killIfThere(pid, 'SIGKILL');
        }
        await expectBuilt(chaos, await live.end, tasks);
      },
    );
  });
});

describe('a worker that hangs', () => {
  it('is noticed by its missing heartbeat, killed and replaced', async () => {
    await atEach(['SIGSTOP'], String, async (chaos) => {
      const tasks = await standardFeature(chaos, '5s', { held: 'B' });
      const live = chaos.project.start('kurukshetra');
      let pid: number | undefined;
      await sees(live, () => (pid = workerIn(chaos, 'running')) !== undefined);
      // Signals to pid 0 reach the whole process group of the tests.
      if (pid === undefined) throw new Error('no worker was seen at its task');
      killIfThere(pid, 'SIGSTOP');
      await letGo(chaos);
      await expectBuilt(chaos, await live.end, tasks);
      expect(JSON.stringify(eventsSoFar(chaos.project))).toMatch(/no heartbeat for [\d.]+ s, limit 10 s/);
    });
  });
});
