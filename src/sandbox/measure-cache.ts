import { startTimer } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import type { CacheMounts, Sandbox } from './sandbox.ts';
import type { Session, SessionSettings } from './session.ts';
import type { SessionCache } from './session-caches.ts';

/** What is asked for the size. */
type Measured = Pick<Sandbox, 'files' | 'uid'>;

/** Between two looks. */
const LOOK_MS = 2000;
/** The part of the time that goes into measuring, at most. */
const SHARE = 0.1;

export const mountsOf = (workspace: string, { volumes }: SessionCache): CacheMounts['volumes'] =>
  volumes.map(({ name, folder }) => ({ name, target: `${workspace}/${folder}` }));

/** Why the cache of the session counts as too large; undefined when it does not. Rejects with SANDBOX_GONE. */
export async function cacheProblem(
  sandbox: Measured,
  { cache, workspace }: Session,
  { cacheBytes }: SessionSettings,
): Promise<string | undefined> {
  if (cache === null) return undefined;
  const folders = mountsOf(workspace, cache).map(({ target }) => target);
  let walk: number | null = null;
  do {
    const answer: Awaited<ReturnType<Sandbox['files']>> = await sandbox.files({
      op: 'measure',
      uid: sandbox.uid,
      folders,
      bytes: cacheBytes,
      walk,
    });
    if ('error' in answer) return `cannot be measured: ${answer.error.message}`;
    if (typeof answer.problem === 'string') return answer.problem;
    walk = answer.walk ?? null;
  } while (walk !== null);
  return undefined;
}

/**
 * Looks at the cache soon, and again and again while a command runs. There is one look at a time, and it outlives what it was begun
 * for: neither short commands nor uploads escape it. The command that runs when the cache is found too large is ended.
 */
export function watchCache(sandbox: Measured, session: Session, settings: SessionSettings): void {
  if (session.cache === null || session.cacheLook?.sandbox === sandbox) return;
  session.cacheLook?.timer.cancel();
  const wait = Math.max(0, session.nextCacheLook - performance.now());
  session.cacheLook = { sandbox, timer: startTimer(wait, () => void look(sandbox, session, settings)) };
}

async function look(sandbox: Measured, session: Session, settings: SessionSettings): Promise<void> {
  const began = performance.now();
  // Where the sandbox has gone, its command has ended as well.
  const problem = await cacheProblem(sandbox, session, settings).catch(() => undefined);
  const now = performance.now();
  session.nextCacheLook = now + Math.max(LOOK_MS, (now - began) / SHARE);
  // A new sandbox was measured when it began.
  if (session.cacheLook?.sandbox !== sandbox) return;
  session.cacheLook = undefined;
  if (problem !== undefined) {
    session.cacheProblem = problem;
    session.running?.kill();
  } else if (session.command !== undefined) watchCache(sandbox, session, settings);
}

/** Throws CACHE_TOO_LARGE. */
export function checkCache(session: Session, settings: SessionSettings): void {
  const error = cacheError(session, settings);
  if (error !== undefined) throw error;
}

/** What to tell the user of a command that was ended for its cache; undefined when it has ended otherwise. */
export function noteOnCache(session: Session, settings: SessionSettings, { endedBy }: SandboxEnd): string | undefined {
  const error = endedBy === 'killed' ? cacheError(session, settings) : undefined;
  return error && `\nThe command was ended. ${error.message} ${error.hint}\n`;
}

function cacheError({ cacheProblem: problem }: Session, { cacheBytes: limit }: SessionSettings): AppError | undefined {
  return problem === undefined ? undefined : sandboxErrors.CACHE_TOO_LARGE({ problem, limit });
}
