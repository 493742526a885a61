import { tmpfs } from '../containers/index.ts';
import { randomId, untilAll } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import { captureOutput } from './capture.ts';
import type { Captured } from './capture.ts';
import { sandboxErrors } from './errors.ts';
import { keepSandbox, wasGoneBefore } from './kept-sandbox.ts';
import type { KeptSandbox } from './kept-sandbox.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox, SandboxHome, SandboxLimits } from './sandbox.ts';

/** On the container of a session. */
const ROLE = 'code';
/** Its files are for all to read, and for no program to write. */
const CODE_OWNER = 60_000;
const CODE_BYTES = 8 * 1024 ** 2;
const PACKAGES = '/packages';
const CODE = '/code';
const MAIN = { typescript: 'main.ts', javascript: 'main.js' } as const;
/** Calls of one session come one after the other, since each has the same file; so many wait. */
const WAITING = 16;

export interface CodeSettings {
  readonly image: string;
  readonly limits: SandboxLimits;
  readonly outputBytes: number;
  /** What the code runs as. */
  readonly uid: number;
}

export interface CodeWish {
  readonly code: string;
  readonly language: keyof typeof MAIN;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
}

export interface CodeRan extends SandboxEnd {
  readonly stdout: Captured;
  readonly stderr: Captured;
}

interface CodeSession {
  readonly kept: KeptSandbox;
  /** The end of the last call. */
  last: Promise<unknown>;
  waiting: number;
}

/** A container for each session of an AI client, in which its code runs, one call after the other. */
export function createCodeSessions(home: SandboxHome, settings: CodeSettings) {
  const sessions = new Map<string, CodeSession>();
  const open = (name: string): CodeSession => {
    const found = sessions.get(name) ?? newSession(home, settings);
    sessions.set(name, found);
    return found;
  };
  return {
    /** Throws CODE_BUSY. */
    run: (name: string, wish: CodeWish, { signal }: { readonly signal: AbortSignal }): Promise<CodeRan> => {
      const session = open(name);
      return inTurn(session, () => run({ session, settings }, wish, signal));
    },
    /** Ends the session's container; false when there is none. */
    reset: async (name: string): Promise<boolean> => {
      const session = sessions.get(name);
      sessions.delete(name);
      await session?.kept.close();
      return session !== undefined;
    },
    closeAll: (): Promise<void> => untilAll([...sessions.values()].map(({ kept }) => kept.close())),
  };
}

async function inTurn<Result>(session: CodeSession, work: () => Promise<Result>): Promise<Result> {
  if (session.waiting >= WAITING) throw sandboxErrors.CODE_BUSY({ waiting: session.waiting });
  session.waiting += 1;
  const turn = session.last.then(work);
  session.last = turn.catch(() => undefined);
  try {
    return await turn;
  } finally {
    session.waiting -= 1;
  }
}

interface Place {
  readonly session: CodeSession;
  readonly settings: CodeSettings;
}

async function run(place: Place, wish: CodeWish, signal: AbortSignal, tries = 1): Promise<CodeRan> {
  signal.throwIfAborted();
  const { session, settings } = place;
  const { sandbox, isNew } = await session.kept.get();
  const output = captureOutput(settings.outputBytes);
  let running: ReturnType<Sandbox['run']> | undefined;
  const kill = (): void => running?.kill();
  signal.addEventListener('abort', kill);
  try {
    const written = writeCode(sandbox, wish);
    running = sandbox.run(programOf(sandbox, settings, wish), output.sink);
    if (signal.aborted) kill();
    const [end] = await Promise.all([running.end, written]);
    // Nothing of a program that did not end by itself goes on.
    if (end.endedBy === 'timeout') await session.kept.end();
    return { ...end, stdout: output.text('stdout'), stderr: output.text('stderr') };
  } catch (error) {
    kill();
    if (!wasGoneBefore(error, isNew, running) || tries >= 3) throw error;
    return run(place, wish, signal, tries + 1);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

/** Throws PROGRAM_REFUSED. */
async function writeCode(sandbox: Sandbox, { code, language }: CodeWish): Promise<void> {
  const answer = await sandbox.files({
    op: 'write',
    uid: CODE_OWNER,
    upload: 0,
    root: CODE,
    path: `${CODE}/${MAIN[language]}`,
    content: Buffer.from(code).toString('base64'),
    mode: 0o444,
    more: false,
    last: true,
  });
  if ('error' in answer) throw sandboxErrors.PROGRAM_REFUSED({ reason: answer.error.message });
}

function programOf(
  sandbox: Sandbox,
  { uid }: CodeSettings,
  { language, timeoutMs, env }: CodeWish,
): Parameters<Sandbox['run']>[0] {
  const own = { HOME: SANDBOX.home, NODE_PATH: `${PACKAGES}/node_modules`, BUN_INSTALL_CACHE_DIR: PACKAGES };
  return {
    argv: ['bun', 'run', `${CODE}/${MAIN[language]}`],
    env: { ...sandbox.env, ...env, ...own },
    cwd: PACKAGES,
    home: SANDBOX.home,
    uid,
    isPrivate: false,
    dataBytes: null,
    stdin: null,
    timeoutMs,
    graceMs: 0,
    clears: [],
  };
}

function newSession(home: SandboxHome, settings: CodeSettings): CodeSession {
  const kept = keepSandbox(() => startSandbox(home, wishOf(settings)));
  return { kept, last: Promise.resolve(), waiting: 0 };
}

function wishOf({ image, limits, uid }: CodeSettings): Parameters<typeof startSandbox>[1] {
  const session = randomId();
  return {
    image,
    name: `mahabharatha-code-${session}`,
    session,
    role: ROLE,
    uid,
    limits,
    labels: {},
    wayOut: null,
    cache: null,
    mounts: [
      tmpfs(CODE, 0o755, { bytes: CODE_BYTES, uid: CODE_OWNER, gid: CODE_OWNER }),
      tmpfs(PACKAGES, 0o755, { bytes: limits.diskBytes, uid, gid: uid }),
    ],
  };
}
