import { engineErrors } from '../../engines/errors.ts';
import type { ContainerInfo, Engine } from '../../engines/index.ts';
import type { Containers, ContainerWish } from '../../containers/index.ts';
import { hasCode } from '../../lib/index.ts';
import type { Spare, Spares, WorkerHandle, WorkerSpec } from '../launcher.ts';
import { hiddenObjects } from './folders.ts';
import { ofWorkers } from './labels.ts';

/** A container keeps its labels for life, and not its name: so that tells what it is. */
const SPARE = 'mahabharatha-spare-';

interface Parts {
  readonly engine: Engine;
  readonly containers: Containers;
  prepare(spec: WorkerSpec, now: WorkerSpec): Promise<ContainerWish>;
  /** It is a worker from now on. */
  begun(info: ContainerInfo): WorkerHandle;
  /** Forgets what belongs to a session. */
  drop(session: string): void;
}

export function createContainerSpares(parts: Parts): Spares {
  const { engine, containers, prepare } = parts;
  return {
    make: async (spec, now) => {
      const fit = fitOf(now);
      const held = await containers.hold(prepare(spec, now), namesOf(spec));
      return spareOf(parts, spec.session, fit, held);
    },
    sweep: async (runId) => {
      const left = (await engine.listContainers(ofWorkers(runId))).filter(isSpare);
      await Promise.all(left.map(({ id }) => engine.removeContainer(id)));
    },
  };
}

type Held = Awaited<ReturnType<Containers['hold']>>;

function spareOf({ begun, drop }: Parts, session: string, fit: string, held: Held): Spare {
  const remove = async (): Promise<void> => {
    drop(session);
    await held.remove();
  };
  return {
    gone: held.gone,
    take: async (spec) => {
      if (spec.session !== session || fitOf(spec) !== fit) {
        await remove();
        return undefined;
      }
      try {
        return begun(await held.begin());
      } catch (error) {
        drop(session);
        // It may live on, in folders that another worker would get.
        if (hasCode(error, engineErrors.ENGINE_UNREACHABLE)) throw error;
        return undefined;
      }
    },
    remove,
  };
}

export const isSpare = ({ name }: Pick<ContainerInfo, 'name'>): boolean => name.startsWith(SPARE);

function namesOf({ worker, runId, session }: WorkerSpec): [string, string, string] {
  const name = `${SPARE}${worker}`;
  return [name, `${name}-${runId}`, `${name}-${runId}-${session.slice(0, 8)}`];
}

/** What a container cannot change any more, beside its folders. */
function fitOf(spec: WorkerSpec): string {
  const { snapshot, lower } = spec.layers ?? {};
  return JSON.stringify([snapshot, lower, spec.privateGit?.objects, hiddenObjects(spec)]);
}
