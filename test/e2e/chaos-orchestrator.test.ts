import { describe, expect, it } from 'vitest';
import type { RecordedEvent, RunState } from '../../src/state/index.ts';
import {
  MOMENTS_TRIED,
  SOAK,
  atEach,
  delay,
  eventsSoFar,
  expectBuilt,
  isThere,
  killIfThere,
  seededRandom,
  sees,
  standardFeature,
  stateSoFar,
  untilNothingIsLeft,
} from '../support/chaos.ts';
import type { Chaos, LiveRun } from '../support/chaos.ts';
import type { CliResult } from '../support/project.ts';

/** Long enough for a new orchestrator to come, also on a loaded machine. */
const LONG_LEASE = '10m';

const EVENTS = [
  'run-started',
  'level-started',
  'worker-starting',
  'worker-started',
  'attempt-started',
  'worker-phase',
  'attempt-verifying',
  'attempt-accepted',
  'task-merged',
  'gates-started',
  'gates-passed',
  'level-published',
  'level-finished',
] as const satisfies RecordedEvent['type'][];

interface EventPoint {
  readonly type: RecordedEvent['type'];
  readonly nth: number;
}

const EVENT_POINTS: EventPoint[] = EVENTS.flatMap((type, index) =>
  (SOAK ? [1, 2, 3] : [1 + (index % 2)]).map((nth) => ({ type, nth })),
);

interface GitPoint {
  readonly nth: number;
  readonly mode: 'before' | 'after' | 'late';
}

/** An orchestrator that builds the standard feature asks git some thirty things. */
const GIT_POINTS: GitPoint[] = Array.from({ length: 30 }, (_, index) => index + 1).flatMap((nth) => {
  const modes = ['before', 'after', 'late'] as const;
  if (SOAK) return modes.map((mode) => ({ nth, mode }));
  return nth % 4 === 0 ? [{ nth, mode: modes[(nth / 4) % 3] ?? 'before' }] : [];
});

const SEEDS = Array.from({ length: SOAK ? 30 : 2 }, (_, index) => index + 1);

const LEFT_ALONE: EventPoint[] = [
  { type: 'worker-starting', nth: 2 },
  { type: 'attempt-started', nth: 2 },
  { type: 'attempt-verifying', nth: 1 },
  { type: 'gates-started', nth: 1 },
];

function countOf(chaos: Chaos, type: RecordedEvent['type']): number {
  return eventsSoFar(chaos.project).filter((event) => event.type === type).length;
}

async function killAfter(chaos: Chaos, live: LiveRun, { type, nth }: EventPoint): Promise<void> {
  await sees(live, () => countOf(chaos, type) >= nth);
  killIfThere(live.pid, 'SIGKILL');
  await live.end;
}

/** `--resume` when there is a run, the first start when the kill came before. */
async function goOn(chaos: Chaos): Promise<CliResult> {
  const known = stateSoFar(chaos.project) !== undefined;
  return chaos.project.cli('kurukshetra', ...(known ? ['--resume'] : []));
}

describe(`an orchestrator that is killed with SIGKILL (${MOMENTS_TRIED})`, () => {
  it('is followed by a resumed one that takes over its workers, at every moment', async () => {
    await atEach(
      EVENT_POINTS,
      ({ type, nth }) => `killed after ${type} ${nth}`,
      async (chaos, point) => {
        const tasks = await standardFeature(chaos, LONG_LEASE);
        await killAfter(chaos, chaos.project.start('kurukshetra'), point);
        await expectBuilt(chaos, await goOn(chaos), tasks);
        const ran = (await chaos.ran()).map(({ task }) => task).toSorted();
        expect(ran, 'every task runs once: nothing is done again').toEqual(tasks);
      },
    );
  });

  it('leaves nothing half-done when it dies at any of its git commands', async () => {
    await atEach(
      GIT_POINTS,
      ({ nth, mode }) => `killed at git command ${nth}, ${mode}`,
      async (chaos, { nth, mode }) => {
        const tasks = await standardFeature(chaos, LONG_LEASE);
        await chaos.trap('orchestrator', nth, mode);
        await chaos.project.cli('kurukshetra');
        expect(chaos.trapped(), 'the git command at which it died').toBeDefined();
        await expectBuilt(chaos, await goOn(chaos), tasks);
        const ran = (await chaos.ran()).map(({ task }) => task).toSorted();
        expect(ran, 'every task runs once: nothing is done again').toEqual(tasks);
      },
    );
  });

  it('can be killed again and again at any time, and the state can be read at all times', async () => {
    await atEach(
      SEEDS,
      (seed) => `seed ${seed}`,
      async (chaos, seed) => {
        const random = seededRandom(seed);
        const tasks = await standardFeature(chaos, LONG_LEASE);
        const reader = readStatusAllTheTime(chaos);
        for (let kills = 0; kills < 4; kills++) {
          const known = stateSoFar(chaos.project) !== undefined;
          const live = chaos.project.start('kurukshetra', ...(known ? ['--resume'] : []));
          await Promise.race([delay(100 + random() * 900), live.end]);
          killIfThere(live.pid, 'SIGKILL');
          await live.end;
        }
        await expectBuilt(chaos, await goOn(chaos), tasks);
        expect((await chaos.ran()).map(({ task }) => task).toSorted()).toEqual(tasks);
        expect(await reader.end(), 'readings that were wrong').toEqual([]);
      },
    );
  });

  it('leaves no process when the run is not resumed, and a later resume keeps what was done', async () => {
    await atEach(
      LEFT_ALONE,
      ({ type, nth }) => `killed after ${type} ${nth}, left alone`,
      async (chaos, point) => {
        const tasks = await standardFeature(chaos, '5s');
        await killAfter(chaos, chaos.project.start('kurukshetra'), point);
        await untilNothingIsLeft(chaos);
        const done = eventsSoFar(chaos.project).flatMap((event) =>
          event.type === 'attempt-accepted' ? [event.task] : [],
        );
        const before = await chaos.ran();
        await expectBuilt(chaos, await goOn(chaos), tasks);
        const again = (await chaos.ran()).slice(before.length).map(({ task }) => task);
        expect(again.filter((task) => done.includes(task))).toEqual([]);
        const charged = Object.values((await chaos.project.state()).tasks).map(({ failures }) => failures);
        expect(charged).toEqual([0, 0, 0, 0]);
      },
    );
  });
});

/** Asks `status --json` over and over: it must always answer, and never call a process alive that was dead before. */
function readStatusAllTheTime(chaos: Chaos): { end(): Promise<string[]> } {
  const wrong: string[] = [];
  const over = new AbortController();
  const loop = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const before = stateSoFar(chaos.project);
      const dead: string[] = [];
      for (const { pid, session } of Object.values(before?.workers ?? {})) {
        if (pid !== null && !(await isThere(pid))) dead.push(session);
      }
      const answer = await chaos.project.cli('status', '--json');
      if (before !== undefined) wrong.push(...judgeStatus(answer, dead));
      await delay(150);
    }
  };
  const running = loop();
  return {
    end: async () => {
      over.abort();
      await running;
      return wrong;
    },
  };
}

function judgeStatus(answer: CliResult, dead: readonly string[]): string[] {
  if (answer.exit !== 0) return [`exit ${answer.exit}: ${answer.stderr}${answer.stdout}`];
  const { workers } = JSON.parse(answer.stdout) as RunState;
  return Object.values(workers)
    .filter(({ session, status }) => dead.includes(session) && ['STARTING', 'RUNNING', 'IDLE'].includes(status))
    .map((worker) => `dead, and called ${worker.status}: ${JSON.stringify(worker)}`);
}
