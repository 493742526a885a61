import { tmpfs } from '../containers/index.ts';
import type { ContainerWish, Containers, Owner, StartedContainer, Upkeep } from '../containers/index.ts';
import { engineErrors } from '../engines/errors.ts';
import type { Attachment, Engine, Mount } from '../engines/index.ts';
import { hasCode, within } from '../lib/index.ts';
import { INSIDE, SANDBOX, SANDBOX_MARK, SHARED_MARK } from '../protocol/index.ts';
import { connect } from './connection.ts';
import type { Connection } from './connection.ts';
import { sandboxErrors } from './errors.ts';
import type { RuntimePlace } from './runtime-place.ts';
import type { Users } from './users.ts';

/** For the agent's own threads: they count among the processes of the container. */
const AGENT_PROCESSES = 16;
const OWN_BYTES = 4 * 1024 ** 2;
/** For the files of as many programs as may run. */
const RESERVE_BYTES = 16 * 1024 ** 2;
/** As much as engines give. */
const SHARED_BYTES = 64 * 1024 ** 2;
const READY_MS = 60_000;
const USUAL_PATH = '/usr/local/bin:/usr/bin:/bin';
/** How often a container is looked at while a program runs in it. */
const LOOK_MS = 2000;

export interface SandboxLimits {
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Of the workspace, which is in memory and counts as memory. */
  readonly diskBytes: number;
  readonly processes: number;
}

export interface SandboxWish {
  readonly image: string;
  readonly name: string;
  /** One life of one sandbox. */
  readonly session: string;
  readonly role: string;
  /** What programs run as. */
  readonly uid: number;
  readonly limits: SandboxLimits;
  readonly labels: Readonly<Record<string, string>>;
  /** Programs of several users come one after the other. */
  readonly isShared?: boolean;
  /** Its way out through the owner's egress proxy; null for none. */
  readonly wayOut: WayOut | null;
  /** Null for none. */
  readonly cache: CacheMounts | null;
  /** More of them. */
  readonly mounts?: readonly Mount[];
}

/** Cache volumes in a workspace. */
export interface CacheMounts {
  /** Where the memory of the workspace begins: an engine would make a folder below it for root. */
  readonly workspace: string;
  readonly volumes: readonly { readonly name: string; readonly target: string }[];
}

export interface WayOut {
  /** Its number among the proxy's clients. */
  readonly client: number;
  /** The only hosts of the allowlist that it may reach, as `reachText` writes them; undefined: all. */
  readonly reach: string | undefined;
}

export interface SandboxHome {
  readonly engine: Engine;
  readonly owner: Owner;
  readonly containers: Containers;
  /** What has Node and the agent; a new one when the last is gone. */
  readonly runtime: () => Promise<RuntimePlace>;
  /** What programs run as. */
  readonly users: Users;
}

export interface Sandbox extends Pick<Connection, 'run' | 'files' | 'prepare' | 'isOver'> {
  readonly containerId: string;
  /** What its programs run as; of one with programs of several users, what owns the folders that none of them has. */
  readonly uid: number;
  readonly users: Users;
  /** What its image sets for programs. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Starts a container with an agent in it that can run programs. Throws SANDBOX_NOT_READY or IMAGE_MISSING. */
export async function startSandbox(home: SandboxHome, wish: SandboxWish): Promise<Sandbox> {
  const [image, runtime] = await Promise.all([home.engine.inspectImage(wish.image), home.runtime()]);
  if (image === undefined) throw engineErrors.IMAGE_MISSING({ image: wish.image });
  const env = { PATH: USUAL_PATH, ...image.env };
  let connection: Connection | undefined;
  const keep = (attachment: Attachment): ReturnType<Upkeep['keep']> => {
    connection = connect(attachment);
    return { ended: connection.gone, settled: async () => undefined };
  };
  const upkeep = upkeepOf(wish.limits, keep);
  let token: string | null = null;
  const firstLine: ContainerWish['firstLine'] = async (known) => {
    token = known.token;
    return undefined;
  };
  const asked = { ...containerWish({ owner: home.owner, runtime }, wish, upkeep), firstLine };
  const info = await home.containers.start(Promise.resolve(asked));
  const container: StartedContainer = { owner: home.owner, id: info.id, createdAt: info.createdAt, upkeep };
  if (connection === undefined) throw new Error(`container ${info.id} was started and not attached to`);
  const { isOver, prepare } = connection;
  const { run, files } = watched(home.engine, info.id, connection);
  const close = async (): Promise<void> => {
    connection?.fail('it was closed');
    await home.containers.stop(container, 0);
  };
  try {
    await becomeReady(connection, wish, token);
  } catch (error) {
    await close();
    if (!hasCode(error, sandboxErrors.SANDBOX_GONE)) throw error;
    throw sandboxErrors.SANDBOX_NOT_READY({ image: wish.image, reason: error.facts.reason });
  }
  return { containerId: info.id, uid: wish.uid, users: home.users, env, run, files, prepare, isOver, close };
}

/** Throws SANDBOX_GONE and SANDBOX_NOT_READY. */
async function becomeReady(
  { ready, openDoor }: Connection,
  { image, wayOut }: SandboxWish,
  token: string | null,
): Promise<void> {
  const door = async (): Promise<true> => {
    await ready;
    if (wayOut !== null && token !== null) await openDoor({ ...wayOut, port: INSIDE.proxyPort, token });
    return true;
  };
  if ((await within(READY_MS, door())) === true) return;
  throw sandboxErrors.SANDBOX_NOT_READY({ image, reason: 'its agent does not answer' });
}

/** A container that a person has paused does not answer: it counts as gone. */
function watched(engine: Engine, id: string, connection: Connection): Pick<Connection, 'run' | 'files'> {
  const look = async (): Promise<void> => {
    const info = await engine.inspectContainer(id);
    if (info?.status === 'running') return;
    connection.fail(`its container is ${info === undefined ? 'gone' : info.status}`);
    await engine.removeContainer(id);
  };
  const during = <Result>(work: Promise<Result>): Promise<Result> => {
    // An engine that does not answer now is asked again.
    const timer = setInterval(() => void look().catch(() => undefined), LOOK_MS);
    const over = (): void => clearInterval(timer);
    work.then(over, over);
    return work;
  };
  return {
    run: (wish, sink) => {
      const running = connection.run(wish, sink);
      void during(running.end).catch(() => undefined);
      return running;
    },
    files: (call) => during(connection.files(call)),
  };
}

function upkeepOf({ memoryBytes }: SandboxLimits, keep: Upkeep['keep']): Upkeep {
  return {
    disk: null,
    memoryBytes,
    keep,
    // Its agent ends with the connection.
    resume: () => ({ ended: new Promise(() => undefined), settled: async () => undefined }),
    empty: async () => undefined,
  };
}

interface Ground extends Pick<SandboxHome, 'owner'> {
  readonly runtime: RuntimePlace;
}

function containerWish({ owner, runtime }: Ground, wish: SandboxWish, upkeep: Upkeep): ContainerWish {
  const { image, name, session, role, uid, limits, labels, cache } = wish;
  const own = { uid, gid: uid };
  return {
    owner,
    role,
    session,
    labels,
    // The engine may still be removing the container before it.
    names: [name, `${name}-${session.slice(0, 8)}`],
    image,
    // To become another user, a process asks each of its threads: the fewer the better.
    command: [`${SANDBOX.runtime}/node`, '--v8-pool-size=0', `${SANDBOX.runtime}/sandbox-agent.mjs`],
    env: { [SANDBOX_MARK]: wish.isShared === true ? SHARED_MARK : '1' },
    ...own,
    switchesUsers: true,
    withoutIpcObjects: wish.isShared === true,
    workdir: '/',
    hostname: 'sandbox',
    mounts: [
      { ...runtime, target: SANDBOX.runtime, readOnly: true },
      tmpfs(SANDBOX.own, 0o700, { bytes: OWN_BYTES, uid: 0, gid: 0 }),
      tmpfs(cache?.workspace ?? SANDBOX.workspace, 0o755, { bytes: limits.diskBytes, ...own }),
      ...(cache?.volumes ?? []).map((volume) => ({ kind: 'volume', ...volume, readOnly: false }) as const),
      tmpfs(SANDBOX.home, 0o700, { bytes: limits.diskBytes, ...own }),
      tmpfs(SANDBOX.tmp, 0o1777, { bytes: limits.diskBytes, uid: 0, gid: 0 }),
      // In place of the engine's, in which there may be any number of files.
      tmpfs('/dev/shm', 0o1777, { bytes: SHARED_BYTES, uid: 0, gid: 0 }),
      ...(wish.isShared === true ? [tmpfs(SANDBOX.reserve, 0o711, { bytes: RESERVE_BYTES, uid: 0, gid: 0 })] : []),
      ...(wish.mounts ?? []),
    ],
    network: 'none',
    client: wish.wayOut?.client ?? null,
    reach: wish.wayOut?.reach,
    memoryBytes: limits.memoryBytes,
    cpus: limits.cpus,
    pids: limits.processes + AGENT_PROCESSES,
    fileBytes: limits.diskBytes,
    runtime: null,
    firstLine: null,
    upkeep,
  };
}
