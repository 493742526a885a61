import { freemem } from 'node:os';
import type { Lack } from '../engines/index.ts';
import { hasCode, untilAll } from '../lib/index.ts';
import type { OutputSink } from './connection.ts';
import { sandboxErrors } from './errors.ts';
import { exec, prepare } from './execute.ts';
import type { Executed, ExecWish } from './execute.ts';
import type { NetworkWish, SessionNetwork } from './network.ts';
import { factsOf, markUsed, newSession, tellNew } from './session.ts';
import type { Session, SessionFacts, SessionParts, SessionSettings } from './session.ts';
import type { SandboxHome } from './sandbox.ts';
import type { SessionCaches } from './session-caches.ts';
import { sandboxOf, startFor, startSpare, withFiles } from './session-sandbox.ts';
import type { FileWork } from './session-sandbox.ts';
import { createWarmPool } from './warm-pool.ts';

export type Sessions = ReturnType<typeof createSessions>;

export interface Surroundings {
  readonly home: SandboxHome;
  readonly network: SessionNetwork;
  readonly caches: SessionCaches;
  /** What the engine is without. */
  readonly lacks: readonly Lack[];
}

/** Sessions: each has a container of its own, a working directory that lasts, and runs one command at a time. */
export function createSessions(around: Surroundings, settings: SessionSettings) {
  const closing = new AbortController();
  const known = { ...around, settings, open: new Map<string, Session>(), closing: closing.signal };
  const warm = createWarmPool({
    names: Object.keys(settings.runtimes),
    // A spare gets its session's name.
    size: around.lacks.includes('renames') ? 0 : settings.warm,
    start: (runtime) => startSpare(known, runtime),
    // Of the machine: the server's own container may have little, and sandboxes are beside it.
    hasRoom: () => freemem() > settings.limits.memoryBytes,
  });
  const parts: SessionParts = { ...known, warm };
  const of = (id: string): Session => sessionOf(parts, id);
  return {
    create: (wish: NewSession): Promise<SessionFacts> => create(parts, wish),
    list: (): SessionFacts[] => [...parts.open.values()].map(factsOf),
    facts: (id: string): SessionFacts => factsOf(of(id)),
    /** Throws what keeps `exec` from running this command now. What it resolves with is for `exec`. */
    prepare: (id: string, wish: ExecWish): ReturnType<typeof prepare> =>
      untilEnded(parts, id, prepare(parts, of(id), wish)),
    exec: (id: string, wish: Awaited<ReturnType<typeof prepare>>, sink: OutputSink): Promise<Executed> =>
      untilEnded(parts, id, exec(parts, of(id), wish, sink)),
    /** False when nothing runs. */
    kill: (id: string): Promise<boolean> => kill(of(id)),
    /** Works with the files of a session. */
    files: <Result>(id: string, work: FileWork<Result>): Promise<Result> =>
      untilEnded(parts, id, withFiles(parts, of(id), work)),
    /** Whether its workspace was replaced by an empty one since the last call. */
    tellNew: (id: string): boolean => tellNew(of(id)),
    destroy: (id: string): Promise<void> => close(parts, of(id)),
    /** Ends the sessions that were idle for too long. */
    expire: async (): Promise<void> => {
      warm.refill();
      const now = performance.now();
      const idle = [...parts.open.values()].filter(
        ({ command, idleSince }) => command === undefined && now - idleSince > settings.ttlMs,
      );
      await untilAll(idle.map((session) => close(parts, session)));
    },
    /** How many spares are ready, by runtime. */
    spares: warm.counts,
    /** Makes the spares that are missing, in the background. */
    warmUp: warm.refill,
    closeAll: async (): Promise<void> => {
      closing.abort();
      await untilAll([warm.close(), ...[...parts.open.values()].map((session) => close(parts, session))]);
    },
  };
}

function sessionOf({ open }: SessionParts, id: string): Session {
  const session = open.get(id);
  if (session === undefined) throw sandboxErrors.SESSION_UNKNOWN({ session: id });
  markUsed(session);
  return session;
}

/** Rejects with SESSION_ENDED when the session was ended before the work was done. */
async function untilEnded<Result>({ open }: SessionParts, id: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!hasCode(error, sandboxErrors.SANDBOX_GONE) || open.has(id)) throw error;
    throw sandboxErrors.SESSION_ENDED({ session: id });
  }
}

export interface NewSession {
  readonly project: string;
  readonly runtime: string;
  /** Null for none. */
  readonly network: NetworkWish | null;
  /** Whose cache of the project it gets; null for none. */
  readonly cacheOf: string | null;
}

async function create(parts: SessionParts, { project, runtime, network, cacheOf }: NewSession): Promise<SessionFacts> {
  const { settings, open, warm, caches, closing, lacks } = parts;
  const kind = Object.hasOwn(settings.runtimes, runtime) ? settings.runtimes[runtime] : undefined;
  if (kind === undefined)
    throw sandboxErrors.RUNTIME_UNKNOWN({ runtime, known: Object.keys(settings.runtimes).toSorted() });
  if (network !== null && lacks.includes('volumes-for-many')) throw sandboxErrors.SESSION_UNABLE({ what: 'network' });
  if (cacheOf !== null && lacks.includes('filled-volumes')) throw sandboxErrors.SESSION_UNABLE({ what: 'cache' });
  const way = network === null ? null : await networkOf(parts, network);
  const session = newSession(project, runtime, { kind, network: way }, (each) => startFor(parts, each));
  try {
    if (closing.aborted) throw sandboxErrors.SANDBOX_GONE({ reason: 'the server ends' });
    if (open.size >= settings.most) throw sandboxErrors.SESSIONS_FULL({ limit: settings.most });
    open.set(session.id, session);
    if (cacheOf !== null) session.cache = await caches.take({ user: cacheOf, project, runtime });
    await sandboxOf(session);
    if (!open.has(session.id)) throw sandboxErrors.SESSION_ENDED({ session: session.id });
    tellNew(session);
  } catch (error) {
    await forget(parts, session);
    throw error;
  }
  warm.refill();
  return factsOf(session);
}

/** Throws NETWORK_REFUSED, and SESSIONS_FULL when no more can have a network. */
async function networkOf({ network, settings }: SessionParts, wish: NetworkWish): Promise<Session['network']> {
  const [reach, env] = await Promise.all([network.reach(wish), network.env()]);
  const client = network.enter();
  if (client === undefined) throw sandboxErrors.SESSIONS_FULL({ limit: settings.most });
  return { wayOut: { client, reach }, env };
}

/** Its container is gone. What it gives up, another session may have at once: a second call does nothing. */
async function forget({ open, network }: SessionParts, session: Session): Promise<void> {
  open.delete(session.id);
  const { network: way, cache } = session;
  session.cacheLook?.timer.cancel();
  Object.assign(session, { network: null, cache: null });
  if (way !== null) network.leave(way.wayOut.client);
  await cache?.release();
}

async function kill(session: Session): Promise<boolean> {
  if (session.command === undefined && session.preparing === 0) return false;
  session.isToBeKilled = true;
  session.running?.kill();
  await session.command?.catch(() => undefined);
  return true;
}

async function close(parts: SessionParts, session: Session): Promise<void> {
  if (!parts.open.delete(session.id)) return;
  try {
    await session.kept.close();
    // What cannot be emptied now is emptied before its next use.
    if (session.cacheProblem !== undefined) await session.cache?.empty().catch(() => undefined);
  } finally {
    await forget(parts, session);
  }
}
