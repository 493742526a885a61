import type { ContainerInfo, Engine } from '../../engines/index.ts';
import type { WorkerHandle } from '../launcher.ts';
import { LABEL } from '../../containers/labels.ts';

export const CONTAINER = 'container';

/** Every live worker of a run. One that is paused is alive: it goes on when somebody lets it. */
export async function listWorkers(engine: Engine, runId: string): Promise<WorkerHandle[]> {
  const found = await engine.listContainers({ [LABEL.run]: runId, [LABEL.role]: 'worker' });
  return found.filter(({ status }) => status === 'running' || status === 'paused').map(handleOf);
}

export function handleOf({ id, name, labels, createdAt }: ContainerInfo): WorkerHandle {
  const places = JSON.parse(labels[LABEL.places] ?? '{}') as Record<string, string>;
  return {
    launcher: CONTAINER,
    runId: labels[LABEL.run] ?? '',
    worker: Number(labels[LABEL.worker]),
    session: labels[LABEL.session] ?? '',
    pid: null,
    containerId: id,
    facts: { ...places, name, feature: labels[LABEL.feature] ?? '', started: createdAt },
  };
}
