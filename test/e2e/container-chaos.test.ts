import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Lease, WorkerStatus } from '../../src/protocol/index.ts';
import { SOAK, eventsSoFar, stateSoFar } from '../support/chaos.ts';
import {
  WHILE_FETCHING,
  after,
  atEachMoment,
  atEngine,
  createContainerChaos,
  expectComplete,
  expectOnce,
  goOn,
  serverForWorkers,
  untilAllIsGone,
} from '../support/container-chaos.ts';
import type { ContainerChaos, Moment } from '../support/container-chaos.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const WORKER = /^mahabharatha-worker-/;
const EGRESS = /^mahabharatha-egress-/;
const SPARE = /^mahabharatha-spare-/;

const MADE = atEngine('onRequest', ['POST /containers/:id/start', WORKER]);
const AT_WORK = after('worker-phase');
const SPARE_WAITS = atEngine('onAnswer', ['POST /containers/:id/start', SPARE]);
const TAKING_SPARE = atEngine('onRequest', ['POST /containers/:id/rename']);
const SPARE_TAKEN = atEngine('onAnswer', ['POST /containers/:id/rename']);
/** The orphans of others are looked for first. */
const TAKING_OVER = atEngine('onRequest', ['GET /containers/json'], 2);

/** In the order of a run. */
const MOMENTS: readonly Moment[] = [
  after('run-started'),
  atEngine('onAnswer', ['POST /containers/create', EGRESS]),
  atEngine('onRequest', ['POST /containers/:id/start', EGRESS]),
  MADE,
  atEngine('onAnswer', ['POST /containers/:id/start', WORKER]),
  AT_WORK,
  SPARE_WAITS,
  TAKING_SPARE,
  SPARE_TAKEN,
  after('attempt-verifying'),
  WHILE_FETCHING,
  after('gates-started'),
  after('level-finished'),
  atEngine('onAnswer', ['POST /containers/:id/kill', WORKER]),
];
const MORE: readonly Moment[] = [
  atEngine('onRequest', ['POST /volumes/create']),
  atEngine('onAnswer', ['POST /containers/create', WORKER]),
  atEngine('onAnswer', ['POST /containers/:id/attach', WORKER]),
  atEngine('onAnswer', ['POST /containers/:id/start', EGRESS]),
  after('attempt-accepted'),
  after('task-merged'),
  after('worker-started', 2),
  atEngine('onAnswer', ['POST /containers/:id/kill', EGRESS]),
];
/** What is not taken over is begun anew, the same as after the lease; what lives must go on. */
const LIVELY: readonly Moment[] = [
  MADE,
  AT_WORK,
  SPARE_WAITS,
  TAKING_SPARE,
  SPARE_TAKEN,
  WHILE_FETCHING,
  after('gates-started'),
  after('level-finished'),
];

describe.skipIf(docker.why !== '')(`an orchestrator of containers that is killed with SIGKILL${whySkipped}`, () => {
  const server = serverForWorkers();
  beforeAll(buildWorkerImage);

  it('leaves nothing in the engine beyond the lease, and a later resume starts anew and completes', async () => {
    await atEachMoment(
      SOAK ? [...MOMENTS, ...MORE] : MOMENTS,
      () => createContainerChaos('3s', server.address()),
      async (chaos, moment) => {
        await moment.kill(chaos, chaos.project.start('kurukshetra', '--workers', '2'));
        await untilAllIsGone(chaos);
        if (!SOAK && moment !== AT_WORK) return;
        await expectComplete(chaos, await goOn(chaos));
        await untilAllIsGone(chaos);
      },
    );
  });

  it('is followed by a resumed one that takes over workers, their tasks, their output and the egress proxy', async () => {
    await atEachMoment(
      SOAK ? [...MOMENTS, ...MORE] : LIVELY,
      () => createContainerChaos('20m', server.address()),
      async (chaos, moment) => {
        await moment.kill(chaos, chaos.project.start('kurukshetra', '--workers', '2'));
        const lease = keepLease(chaos);
        const before = runningWorkers(chaos);
        const end = await goOn(chaos);
        clearInterval(lease);
        await expectComplete(chaos, end);
        expectOnce(chaos);
        const said = end.stdout.match(/worker \d is taken over/g) ?? [];
        expect(said.length, 'and that is said').toBeGreaterThanOrEqual(before.length);
        expect(server.asked(`${chaos.project.folder}/A`), 'the way out was there to the end').toBe(2);
        expect(chaos.project.leftovers()).toEqual([]);
      },
    );
  });

  it('leaves nothing when the resumed orchestrator is killed too', async () => {
    await atEachMoment(
      [MADE, AT_WORK],
      // The cleanup process of the first run asks the engine, too: not before the second one has.
      () => createContainerChaos('10s', server.address()),
      async (chaos, moment) => {
        await moment.kill(chaos, chaos.project.start('kurukshetra', '--workers', '2'));
        const next = moment === MADE ? TAKING_OVER : after('run-resumed');
        await next.kill(chaos, chaos.project.start('kurukshetra', '--resume'));
        await untilAllIsGone(chaos);
        expect(chaos.printed('C'), 'no task has gone on').toEqual([]);
      },
    );
  });
});

/**
 * Speaks for the dead orchestrator until another one does: on a busy machine that one comes later than the 5 s after
 * which a worker without an orchestrator ends.
 */
function keepLease({ project }: ContainerChaos): NodeJS.Timeout {
  const file = project.inWorkers('login', 'shared', 'lease.json');
  const read = (): Lease | undefined =>
    existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Lease) : undefined;
  const dead = read()?.owner;
  return setInterval(() => {
    const lease = read();
    if (lease === undefined || lease.owner !== dead) return;
    writeFileSync(`${file}.new`, JSON.stringify({ ...lease, beat: lease.beat + 1 }));
    renameSync(`${file}.new`, file);
  }, 200);
}

/**
 * Containers of workers that a resumed run takes over: what one at gates will say counts no more, so it is ended, and one
 * that has reported may be gone any moment.
 */
function runningWorkers({ project }: ContainerChaos): string[] {
  const live = project.containers().filter(({ State }) => State.Running);
  const gates = eventsSoFar(project).findLast(({ type }) => type.startsWith('gates-'));
  const atGates = gates?.type === 'gates-started' ? String(gates.worker) : undefined;
  const workers = Object.entries(stateSoFar(project)?.workers ?? {}).filter(
    ([worker]) => worker !== atGates && !hasReported(project, worker),
  );
  const known = workers.flatMap(([, { containerId }]) => containerId ?? []);
  return live.map(({ Id }) => Id).filter((id) => known.includes(id));
}

function hasReported(project: ContainerChaos['project'], worker: string): boolean {
  const file = project.inWorkers('login', worker, 'outbox', 'status.json');
  if (!existsSync(file)) return true;
  const { result } = JSON.parse(readFileSync(file, 'utf8')) as WorkerStatus;
  return result !== null;
}
