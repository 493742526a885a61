import type { Writable } from 'node:stream';
import { LABEL as OWNED, createContainers } from '../../containers/index.ts';
import type { ContainerWish, StartedContainer } from '../../containers/index.ts';
import type { Engine } from '../../engines/index.ts';
import { lastLines } from '../../logs/index.ts';
import type { Launcher, WorkerHandle, WorkerSpec } from '../launcher.ts';
import { giveFolders, maskedObjects, writeHosts } from './folders.ts';
import { CONTAINER, LABEL, WORKER_ROLE, handleOf, placesOf, runOwner } from './labels.ts';
import type { ContainerLauncherOptions } from './settings.ts';
import { createStdins } from './stdins.ts';
import { workerUpkeep, workerWish } from './worker-wish.ts';

/** Workers as locked-down containers: they see their own folders, and of the network what the user allows. */
export function createContainerLauncher(options: ContainerLauncherOptions): Launcher {
  const { engine, settings } = options;
  const volumes = settings.caches.map(({ volume: name, labels }) => ({ name, labels }));
  const containers = createContainers({ ...options, egress: settings.egress, volumes });
  const stdins = createStdins();
  const prepare = async (spec: WorkerSpec): Promise<ContainerWish> => {
    await giveFolders(spec, settings);
    if (settings.network === 'none') await writeHosts(spec);
    const masked = await maskedObjects(spec);
    const attached = (stdin: Writable): void => stdins.hold(spec.session, stdin);
    return workerWish(spec, { engine, settings, masked, attached });
  };
  const started = (handle: WorkerHandle): StartedContainer => startedContainer(handle, options);
  return {
    name: CONTAINER,
    capabilities: { sharesObjects: false },
    start: async (spec) => {
      const handle = handleOf(await containers.start(prepare(spec)));
      const drop = (): void => stdins.drop(handle.session);
      containers.wait(started(handle)).then(drop, drop);
      return handle;
    },
    recover: (handle) => containers.recover(started(handle)),
    takesCredentials: ({ session }) => stdins.isOpen(session),
    giveCredentials: ({ session }, attempt) => stdins.giveCredentials(session, attempt, settings.access),
    wait: (handle) => containers.wait(started(handle)),
    stop: (handle, { graceMs }) => containers.stop(started(handle), graceMs),
    logs: async (handle, lines) => (await lastLines(placesOf(handle.facts).log, lines, () => true)).lines,
    list: (runId) => listWorkers(engine, runId),
    sweep: (runId) => containers.sweep(runId),
  };
}

/** Every live worker of a run. One that is paused is alive: it may be let go on. */
export async function listWorkers(engine: Engine, runId: string): Promise<WorkerHandle[]> {
  const found = await engine.listContainers({ [LABEL.run]: runId, [OWNED.role]: WORKER_ROLE });
  return found.filter(({ status }) => status === 'running' || status === 'paused').map(handleOf);
}

function startedContainer(handle: WorkerHandle, { engine, settings }: ContainerLauncherOptions): StartedContainer {
  const { runId, facts, containerId } = handle;
  const places = placesOf(facts);
  return {
    owner: runOwner({ ...places, runId, feature: String(facts['feature']), repo: settings.repo }),
    id: containerId ?? '',
    createdAt: String(facts['started']),
    upkeep: workerUpkeep(places, engine, settings),
  };
}
