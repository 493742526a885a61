import type { Config } from '../config/index.ts';
import { makeHandover } from '../credentials/index.ts';
import type { Injection } from '../credentials/index.ts';
import type { EngineInfo } from '../engines/index.ts';
import { cacheVolumes, sweeperStarter } from '../containers/index.ts';
import type { Identity } from '../containers/index.ts';
import { createContainerLauncher, secretsOf } from '../launchers/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import { run } from '../lib/index.ts';
import { createRedactor } from '../logs/index.ts';
import { imagePlace } from './agent-place.ts';
import type { AgentPlace } from './agent-place.ts';
import { checkCredentials } from './check-credentials.ts';
import { checkedMounts } from './container-config.ts';
import { networkFor } from './container-network.ts';
import type { Network } from './container-network.ts';
import { credentialsLine } from './credentials-line.ts';
import type { CredentialsLine } from './credentials-line.ts';
import { servedAgents } from './run-agents.ts';
import type { ContainerWishes, Workers } from './run-workers.ts';
import { projectErrors } from './errors.ts';
import { programFile } from './package-files.ts';
import { findWorkerUsers } from './worker-users.ts';

/** A launcher of containers as the configuration describes them. Throws when that is not possible. */
export async function wireContainers(wishes: ContainerWishes): Promise<Workers> {
  const { lock } = wishes.project.paths.feature(wishes.graph.feature);
  return wireFor(wishes, 'run', { lock, leaseMs: wishes.config.workers.lease });
}

/** The same for a person's shell: without an agent, and with an owner that is never resumed. */
export function wireShell(
  wishes: Omit<ContainerWishes, 'used'>,
  own: { readonly lock: string; readonly folder?: string },
): Promise<ContainerWorkers> {
  return wireFor({ ...wishes, used: [] }, 'shell', { ...own, leaseMs: 0 });
}

export interface ContainerWorkers extends Workers {
  readonly settings: ContainerSettings;
}

async function wireFor(
  wishes: ContainerWishes,
  owner: ContainerSettings['owner'],
  sweeper: Pick<Parameters<typeof sweeperStarter>[0], 'lock' | 'leaseMs' | 'folder'>,
): Promise<ContainerWorkers> {
  const { mode, env } = wishes;
  const { engine } = mode;
  openMask();
  const mounts = await checkedMounts(wishes, mode.info.endpoint);
  const given = await handoverFor(wishes);
  const idle = await checkCredentials(wishes, given);
  checkEngine(wishes.config, mode.info);
  const way = networkFor(wishes, injectionOf(given) !== undefined);
  const settings: ContainerSettings = { owner, mounts, ...(await settingsOf(wishes, given, way)) };
  const startSweeper = sweeperStarter({ program: programFile('sweeper'), env, ...sweeper });
  const launcher = createContainerLauncher({ engine, settings, startSweeper });
  return {
    // A spare gets its worker's name.
    launcher: mode.info.lacks.includes('renames') ? { ...launcher, spares: null } : launcher,
    settings,
    env: given.handover.env,
    place: placeOf(wishes, settings),
    redact: createRedactor(secretsOf(settings)),
    credentials: waysOf(given),
    snapshotBase: await snapshotBase(mode, settings),
    warnings: way.warnings.then((warnings) => [...warnings, ...given.missing.map(notSet), ...idle]),
  };
}

function placeOf({ mode, project }: ContainerWishes, { image, runtime, mounts }: ContainerSettings): AgentPlace {
  return imagePlace({ engine: mode.engine, image, runtime, mounts, root: project.repository.root });
}

async function settingsOf(
  wishes: ContainerWishes,
  given: Given,
  way: Network,
): Promise<Omit<ContainerSettings, 'owner' | 'mounts'>> {
  const { mode, config, project } = wishes;
  const repo = project.repository.root;
  const users = await findWorkerUsers();
  const injected = injectionOf(given);
  return {
    image: mode.image,
    repo,
    leaseMs: config.workers.lease,
    ...users,
    ...limitsOf(config, mode.info),
    ...networkOf(wishes, way, { users, injected }),
    caches: cacheVolumes(repo, config.workers.container.caches, users.uid),
    secrets: given.handover.secrets,
    accesses: new Map(given.proofs.map(({ agent, access }) => [agent, access])),
    withheld: injected?.secrets ?? [],
  };
}

async function snapshotBase(
  { engine, info, image, workerImage }: ContainerWishes['mode'],
  settings: ContainerSettings,
) {
  const { uid, gid, runtime } = settings;
  const imageId = (await engine.inspectImage(image))?.id ?? image;
  return { engine, info, imageId, workerImage, users: { uid, gid }, runtime };
}

const notSet = (name: string): string => `workers were to get ${name}, which is not set`;

/** The network, and the container of its egress proxy, which is of our own image. */
function networkOf(
  { mode, config }: ContainerWishes,
  { network, egress }: Network,
  { users, injected }: { readonly users: Identity; readonly injected: Injection | undefined },
): Pick<ContainerSettings, 'network' | 'egress'> {
  const { uid, gid } = users;
  const { runtime } = limitsOf(config, mode.info);
  const proxy = { image: mode.workerImage, uid, gid, runtime, access: injected?.access ?? null };
  return { network, egress: egress === null ? null : { ...egress, ...proxy } };
}

/** Throws what a run would throw for this configuration; returns the warnings that a run would show. */
export async function checkContainers(wishes: ContainerWishes): Promise<readonly string[]> {
  const { info } = wishes.mode;
  await checkedMounts(wishes, info.endpoint);
  checkEngine(wishes.config, info);
  return networkFor(wishes, injectionOf(await handoverFor(wishes)) !== undefined).warnings;
}

/** For root, workers run as another user, who must be able to read mail, lease and git objects. */
function openMask(): void {
  if (process.getuid?.() === 0) process.umask(process.umask() & 0o022);
}

/** Runtimes that need not be named in a request. */
const LIKE_RUNC: ReadonlySet<string> = new Set(['runc', 'crun', 'io.containerd.runc.v2']);

type Limits = Pick<ContainerSettings, 'memoryBytes' | 'cpus' | 'pids' | 'tmpfsBytes' | 'diskBytes' | 'runtime'>;

function limitsOf({ workers: { container } }: Config, info: EngineInfo): Limits {
  const { memory, cpus, pids, tmpfs, disk, runtime } = container;
  return {
    memoryBytes: memory,
    // An engine refuses a container that may use more than there is.
    cpus: Math.min(cpus, info.cpus),
    pids,
    tmpfsBytes: tmpfs,
    diskBytes: disk,
    runtime: runtime ?? (LIKE_RUNC.has(info.defaultRuntime) ? null : info.defaultRuntime),
  };
}

type Given = Awaited<ReturnType<typeof makeHandover>>;

/** Of Claude Code, which is the only agent with one. */
function injectionOf({ proofs }: Given): Injection | undefined {
  return proofs.flatMap(({ injection }) => (injection === undefined || 'because' in injection ? [] : [injection]))[0];
}

function waysOf({ proofs }: Given): readonly CredentialsLine[] {
  return proofs.flatMap(({ agent, credentials, injection }) =>
    credentials === undefined || injection === undefined ? [] : [credentialsLine(agent, credentials.source, injection)],
  );
}

function handoverFor(wishes: ContainerWishes): Promise<Given> {
  const { project, config, env } = wishes;
  return makeHandover({
    env,
    platform: process.platform,
    run,
    configFile: project.paths.config,
    names: config.workers.container.env,
    network: config.workers.container.network,
    wish: config.workers.container.credentials,
    agents: servedAgents(wishes.used, config),
  });
}

/** Without its runtime no worker could start. */
function checkEngine(config: Config, info: EngineInfo): void {
  const reason = runtimeProblem(config, info) ?? lackProblem(config, info);
  if (reason !== undefined) throw projectErrors.MODE_UNAVAILABLE({ mode: 'container', reason });
}

function runtimeProblem({ workers: { container } }: Config, { runtimes }: EngineInfo): string | undefined {
  const { runtime } = container;
  if (runtime === undefined || runtimes.includes(runtime)) return undefined;
  return `the engine has no runtime "${runtime}" (workers.container.runtime); it has ${runtimes.join(', ')}`;
}

function lackProblem({ workers: { container } }: Config, { lacks }: EngineInfo): string | undefined {
  if (!lacks.includes('volumes-for-many')) return undefined;
  if (container.network !== 'none')
    return 'on this engine workers cannot reach the proxy of the allowlist; set workers.container.network: none, or use Docker (engine: docker in your settings.yaml)';
  if (container.caches.length > 0) return 'on this engine workers cannot share workers.container.caches';
  return undefined;
}
