import { bind, tmpfs } from '../containers/index.ts';
import { randomId, untilAll } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { ProgramAhead, SandboxEnd } from '../protocol/index.ts';
import { sandboxErrors } from '../sandbox/errors.ts';
import { aheadOf, captureOutput, keepSandbox, startSandbox, wasGoneBefore } from '../sandbox/index.ts';
import type { Captured, KeptSandbox, Sandbox, SandboxHome, SandboxLimits, SandboxWish } from '../sandbox/index.ts';
import { packagesIn } from './code-packages.ts';
import type { CallHooks, CodePackages, Package } from './code-packages.ts';
import { codeErrors } from './errors.ts';
import type { Wanted } from './package-names.ts';
import type { PackageSet } from './package-store.ts';
import { BUN, PACKAGES, STORE, WAIT_FIRST } from './places.ts';
import { importsOf, link, mayImport, noPackages, scanAhead, withNames } from './session-packages.ts';
import type { SessionPackages } from './session-packages.ts';

/** On the container of a session. */
const ROLE = 'code';
/** Its files are for all to read, and for no program to write. */
const CODE_OWNER = 60_000;
/** Room for the longest code in both files. */
const CODE_BYTES = 16 * 1024 ** 2;
const CODE = '/code';
const MAIN = { typescript: `${CODE}/main.ts`, javascript: `${CODE}/main.js` } as const;
/** Code may have left settings of Bun in the session's folders: those could run other code before it. */
const BUN_RUN = [BUN, 'run', '--no-install', '--config=/dev/null'] as const;
/** What one frame of the protocol has room for, as base64. */
const PART_BYTES = 512 * 1024;
/** Calls of one session come one after the other, since each has the same file; so many wait. */
const WAITING = 16;

export interface CodeSettings {
  readonly image: string;
  readonly limits: SandboxLimits;
  readonly outputBytes: number;
}

export interface CodeWish {
  readonly code: string;
  readonly language: keyof typeof MAIN;
  readonly timeoutMs: number;
  readonly env: Readonly<Record<string, string>>;
}

export interface CodeRan extends Pick<
  SandboxEnd,
  'code' | 'signal' | 'endedBy' | 'problem' | 'durationMs' | 'outOfMemory'
> {
  readonly stdout: Captured;
  readonly stderr: Captured;
  /** Which this call has brought into the session. */
  readonly packages: readonly Package[];
}

interface CodeSession {
  readonly kept: KeptSandbox;
  /** The store that its container sees. */
  store: string;
  packages: SessionPackages;
  /** The end of the last call. */
  last: Promise<unknown>;
  waiting: number;
}

export interface CodeParts {
  readonly home: SandboxHome;
  readonly packages: CodePackages;
  readonly settings: CodeSettings;
}

/** A container for each session of an AI client, in which its code runs, one call after the other. */
export function createCodeSessions(parts: CodeParts) {
  const sessions = new Map<string, CodeSession>();
  const open = (name: string): CodeSession => {
    const found = sessions.get(name) ?? newSession(parts);
    sessions.set(name, found);
    return found;
  };
  return {
    /** Throws CODE_BUSY, PROGRAM_REFUSED, and what the packages throw; the code has not run then. */
    run: (name: string, wish: CodeWish, hooks: CallHooks): Promise<CodeRan> => {
      const session = open(name);
      return inTurn(session, () => run({ ...parts, session }, wish, hooks));
    },
    /** Returns which of them the session has now. Throws CODE_BUSY and what the packages throw. */
    install: (name: string, wanted: Wanted, hooks: CallHooks): Promise<readonly Package[]> => {
      const session = open(name);
      return inTurn(session, async () => {
        const set = await have({ ...parts, session }, new Map([...session.packages.wanted, ...wanted]), hooks);
        return packagesIn(set, wanted.keys());
      });
    },
    list: async (name: string): Promise<{ session: readonly Package[]; cached: readonly Package[] }> => {
      const { set, wanted } = sessions.get(name)?.packages ?? noPackages();
      return { session: set === undefined ? [] : packagesIn(set, wanted.keys()), cached: await parts.packages.list() };
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
  if (session.waiting >= WAITING) throw codeErrors.CODE_BUSY({ waiting: session.waiting });
  session.waiting += 1;
  const turn = session.last.then(work);
  session.last = turn.catch(() => undefined);
  try {
    return await turn;
  } finally {
    session.waiting -= 1;
  }
}

interface Place extends CodeParts {
  readonly session: CodeSession;
}

async function run(place: Place, wish: CodeWish, hooks: CallHooks, tries = 1): Promise<CodeRan> {
  const { signal } = hooks;
  signal.throwIfAborted();
  const { session, settings } = place;
  const imports = mayImport(wish.code);
  const { sandbox, isNew } = await sandboxFor(place, imports);
  const output = captureOutput(settings.outputBytes);
  let running: ReturnType<Sandbox['run']> | undefined;
  const kill = (): void => running?.kill();
  signal.addEventListener('abort', kill);
  try {
    // Without it the code of the call before would run.
    await writeCode(sandbox, wish);
    const packages = imports ? await fetchImports(place, sandbox, wish, hooks) : [];
    running = sandbox.run({ ...programOf(sandbox, wish), ahead: nextOf(sandbox, wish, imports) }, output.sink);
    if (signal.aborted) kill();
    const end = await running.end;
    // Nothing of a program that did not end by itself goes on.
    if (end.endedBy === 'timeout') await session.kept.end();
    return { ...end, stdout: output.text('stdout'), stderr: output.text('stderr'), packages };
  } catch (error) {
    kill();
    if (!wasGoneBefore(error, isNew, running) || tries >= 3) throw error;
    return run(place, wish, hooks, tries + 1);
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

/** A container sees a store that was removed for as long as it lives: then the session gets a new one. */
async function sandboxFor({ session, packages }: Place, imports: boolean): ReturnType<KeptSandbox['get']> {
  const found = await session.kept.get();
  if (!imports || session.store === (await packages.place())) return found;
  await session.kept.end();
  return session.kept.get();
}

/** Makes the packages that the code imports ready, and returns those that are new to the session. */
async function fetchImports(
  place: Place,
  sandbox: Sandbox,
  wish: CodeWish,
  hooks: CallHooks,
): Promise<readonly Package[]> {
  const { session } = place;
  const { wanted: before } = session.packages;
  const { names, missing } = await importsOf(sandbox, MAIN[wish.language], programAhead(sandbox, wish));
  const wanted = withNames(session.packages, names);
  hooks.signal.throwIfAborted();
  if (wanted.size === 0) return [];
  const set = await have(place, wanted, hooks);
  // Code may have removed its links.
  if (missing.length > 0) session.packages.linked = undefined;
  await link(sandbox, session.packages, set);
  return packagesIn(
    set,
    [...wanted.keys()].filter((name) => !before.has(name)),
  );
}

/** The set of packages of the session, with all that is wanted. */
async function have({ packages, session }: Place, wanted: Wanted, hooks: CallHooks): Promise<PackageSet> {
  const { set: before, wanted: had } = session.packages;
  if (before !== undefined && wanted === had && (await packages.use(before))) return before;
  const set = await packages.take(wanted, hooks);
  Object.assign(session.packages, { wanted, set });
  return set;
}

/** Throws PROGRAM_REFUSED. The agent does one part after the other. */
async function writeCode(sandbox: Sandbox, { code, language }: CodeWish): Promise<void> {
  const content = Buffer.from(code);
  const starts = Array.from(
    { length: Math.max(1, Math.ceil(content.length / PART_BYTES)) },
    (_, part) => part * PART_BYTES,
  );
  const fixed = {
    op: 'write',
    uid: CODE_OWNER,
    upload: 0,
    root: CODE,
    path: MAIN[language],
    overwrites: true,
    mode: 0o644,
  } as const;
  const written = starts.map((start) =>
    sandbox.files({
      ...fixed,
      content: content.subarray(start, start + PART_BYTES).toString('base64'),
      more: start > 0,
      last: start + PART_BYTES >= content.length,
    }),
  );
  for (const answer of await Promise.all(written))
    if ('error' in answer) throw sandboxErrors.PROGRAM_REFUSED({ reason: answer.error.message });
}

function programOf(sandbox: Sandbox, { language, timeoutMs, env }: CodeWish): Parameters<Sandbox['run']>[0] {
  const own = { HOME: SANDBOX.home, BUN_INSTALL_CACHE_DIR: PACKAGES };
  return {
    // By its whole path: PATH may be one of the call's variables.
    argv: [...BUN_RUN, MAIN[language]],
    env: { ...sandbox.env, ...env, ...own },
    cwd: PACKAGES,
    home: SANDBOX.home,
    uid: sandbox.uid,
    isPrivate: false,
    dataBytes: null,
    stdin: null,
    timeoutMs,
    graceMs: 0,
    clears: [],
  };
}

/** What the next call begins with, when it is like this one. */
const nextOf = (sandbox: Sandbox, wish: CodeWish, imports: boolean): ProgramAhead =>
  imports ? scanAhead(sandbox, MAIN[wish.language]) : programAhead(sandbox, { ...wish, env: {} });

const programAhead = (sandbox: Sandbox, wish: CodeWish): ProgramAhead =>
  aheadOf(programOf(sandbox, wish), { argv: [...BUN_RUN, ...WAIT_FIRST, MAIN[wish.language]], env: {} });

function newSession(parts: CodeParts): CodeSession {
  const kept = keepSandbox(async () => {
    session.store = await parts.packages.place();
    return startSandbox(parts.home, wishOf(parts));
  });
  const session: CodeSession = { kept, store: '', packages: noPackages(), last: Promise.resolve(), waiting: 0 };
  return session;
}

/** The code of each session has a user of its own. */
function wishOf({ home, packages, settings: { image, limits } }: CodeParts): SandboxWish {
  const [session, uid] = [randomId(), home.users.nextSession()];
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
      bind(packages.sets, STORE, true),
    ],
  };
}
