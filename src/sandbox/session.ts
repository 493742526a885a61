import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Timer } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { Lack } from '../engines/index.ts';
import type { Running } from './connection.ts';
import { keepSandbox } from './kept-sandbox.ts';
import type { KeptSandbox } from './kept-sandbox.ts';
import type { Runtime, Runtimes } from './runtimes.ts';
import type { SessionNetwork } from './network.ts';
import type { SessionCache, SessionCaches } from './session-caches.ts';
import type { WarmPool } from './warm-pool.ts';
import type { Sandbox, SandboxHome, SandboxLimits, WayOut } from './sandbox.ts';

export interface SessionSettings {
  readonly runtimes: Runtimes;
  readonly limits: SandboxLimits;
  /** How many may be open. */
  readonly most: number;
  /** How long an idle one stays open. */
  readonly ttlMs: number;
  /** How many spare sandboxes each runtime has. */
  readonly warm: number;
  /** What a cache may hold on the disk. */
  readonly cacheBytes: number;
}

export interface SessionFacts {
  readonly id: string;
  readonly project: string;
  readonly runtime: string;
  readonly workspace: string;
  readonly cwd: string;
  readonly busy: boolean;
  readonly hasNetwork: boolean;
  readonly hasCache: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

export interface Session extends Omit<SessionFacts, 'busy' | 'cwd' | 'hasNetwork' | 'hasCache' | 'lastUsedAt'> {
  readonly kind: Runtime;
  cwd: string;
  lastUsedAt: number;
  /** The same on the clock of `performance`, which no change of the machine's clock moves. */
  idleSince: number;
  readonly kept: KeptSandbox;
  /** Its container was replaced, and no answer has said so yet. */
  isWorkspaceNew: boolean;
  /** What the last set-up of this container was made from; undefined before it. */
  setUpFrom: string | undefined;
  /** Undefined also while its sandbox is being made. */
  running: Running | undefined;
  /** Resolves with its end; undefined when no command is asked for. */
  command: Promise<unknown> | undefined;
  /** Commands that are asked for, and not yet run. */
  preparing: number;
  isToBeKilled: boolean;
  /** Its way out, and the variables that lead programs to it; null for none. */
  network: { readonly wayOut: WayOut; readonly env: Readonly<Record<string, string>> } | null;
  /** Null for none. */
  cache: SessionCache | null;
  /** When its size is to be looked at again, on the clock of `performance`. */
  nextCacheLook: number;
  /** The look that is due or under way. */
  cacheLook: { readonly sandbox: object; readonly timer: Timer } | undefined;
  /** Why the cache counts as too large; undefined when no look has found that. */
  cacheProblem: string | undefined;
}

export interface SessionParts {
  readonly home: SandboxHome;
  readonly network: SessionNetwork;
  readonly settings: SessionSettings;
  readonly warm: WarmPool;
  readonly caches: SessionCaches;
  /** What the engine is without. */
  readonly lacks: readonly Lack[];
  readonly open: Map<string, Session>;
  /** Fires when no more may be opened. */
  readonly closing: AbortSignal;
}

export function newSession(
  project: string,
  runtime: string,
  { kind, network }: Pick<Session, 'kind' | 'network'>,
  start: (session: Session) => Promise<Sandbox>,
): Session {
  const now = Date.now();
  const workspace = path.posix.join(SANDBOX.workspace, project);
  const session: Session = {
    id: `session_${randomBytes(4).toString('hex')}`,
    project,
    runtime,
    kind,
    workspace,
    cwd: workspace,
    createdAt: now,
    lastUsedAt: now,
    idleSince: performance.now(),
    kept: keepSandbox(() => start(session)),
    isWorkspaceNew: false,
    setUpFrom: undefined,
    running: undefined,
    command: undefined,
    preparing: 0,
    isToBeKilled: false,
    network,
    cache: null,
    nextCacheLook: 0,
    cacheLook: undefined,
    cacheProblem: undefined,
  };
  return session;
}

export function markUsed(session: Session): void {
  Object.assign(session, { lastUsedAt: Date.now(), idleSince: performance.now() });
}

export function factsOf(session: Session): SessionFacts {
  const { id, project, runtime, workspace, cwd, command, network, cache, createdAt, lastUsedAt } = session;
  const [busy, hasNetwork, hasCache] = [command !== undefined, network !== null, cache !== null];
  return { id, project, runtime, workspace, cwd, busy, hasNetwork, hasCache, createdAt, lastUsedAt };
}

/** Whether its workspace was replaced since the last call. */
export function tellNew(session: Session): boolean {
  const { isWorkspaceNew } = session;
  session.isWorkspaceNew = false;
  return isWorkspaceNew;
}
