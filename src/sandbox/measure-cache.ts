import { inBytes, startTimer } from '../lib/index.ts';
import type { CacheMounts, Sandbox } from './sandbox.ts';
import type { Session, SessionSettings } from './session.ts';
import type { SessionCache } from './session-caches.ts';

/** Between two looks. */
const LOOK_MS = 2000;
/** The part of the time that goes into measuring, at most. */
const SHARE = 0.1;

export const mountsOf = (workspace: string, { volumes }: SessionCache): CacheMounts['volumes'] =>
  volumes.map(({ name, folder }) => ({ name, target: `${workspace}/${folder}` }));

/** Why the cache of the session counts as too large; undefined when it does not. Rejects with SANDBOX_GONE. */
export async function cacheProblem(
  sandbox: Pick<Sandbox, 'files' | 'uid'>,
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

interface CacheWatch {
  /** Returns what to tell the user when the command was stopped. */
  end(): string | undefined;
}

/** Stops the command when the cache is too large. The looks are counted over all commands, so that short ones do not escape. */
export function watchCache(
  sandbox: Pick<Sandbox, 'files' | 'uid'>,
  session: Session,
  settings: SessionSettings,
  stop: () => void,
): CacheWatch {
  if (session.cache === null) return { end: () => undefined };
  let note: string | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    const began = performance.now();
    // Where the sandbox has gone, the command has ended as well.
    const problem = await cacheProblem(sandbox, session, settings).catch(() => undefined);
    const now = performance.now();
    session.nextCacheLook = now + Math.max(LOOK_MS, (now - began) / SHARE);
    if (isOver) return;
    if (problem === undefined) return plan();
    session.isCacheTooLarge = true;
    note = noteOn(problem, settings.cacheBytes);
    stop();
  };
  let timer: ReturnType<typeof startTimer>;
  const plan = (): void => {
    timer = startTimer(Math.max(0, session.nextCacheLook - performance.now()), () => void look());
  };
  plan();
  return {
    end: () => {
      isOver = true;
      timer.cancel();
      return note;
    },
  };
}

const noteOn = (problem: string, limit: number): string =>
  `\nThe command was ended: the cache of the project (node_modules and .venv) ${problem}. The limit is ${inBytes(limit)} (serve.limits.cache). End the session with DELETE: the next one begins with an empty cache.\n`;
