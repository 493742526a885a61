import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, randomId } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import { captureOutput } from './capture.ts';
import type { Captured } from './capture.ts';
import { sandboxErrors } from './errors.ts';
import { explained, missingLanguage } from './fetch-image.ts';
import type { FetchImage } from './fetch-image.ts';
import { keepSandbox } from './kept-sandbox.ts';
import type { KeptSandbox } from './kept-sandbox.ts';
import { commandFor } from './languages.ts';
import type { Language, Languages } from './languages.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox, SandboxHome, SandboxLimits } from './sandbox.ts';

/** On the container of a language. */
const RUNNER_ROLE = 'runner';
/** Each execution has a user of its own: of so many, none comes again while anything of it could still be there. */
const USERS = { first: 20_000, last: 59_999 };
/** Owns the folders that no execution has. */
const UNUSED_USER = 60_000;
/** At a time in one container; more wait. */
const AT_A_TIME = 16;
const WAITING = 64;
const PUT_AWAY = ['/tmp', '/dev/shm'];
/** Its files are for its user alone, and it has a folder of its own for what programs keep in their home. */
const PRIVATE = 'umask 077; mkdir "$HOME"; exec "$@"';

export interface RunnerSettings {
  readonly languages: Languages;
  readonly limits: SandboxLimits;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  /** How long a container without a request stays. */
  readonly idleMs: number;
}

export interface Ran extends SandboxEnd {
  readonly stdout: Captured;
  readonly stderr: Captured;
  readonly containerId: string;
  readonly image: string;
  readonly file: string;
}

interface Runner {
  readonly name: string;
  readonly language: Language;
  readonly kept: KeptSandbox;
  running: number;
  readonly waiting: (() => void)[];
  lastUsedAt: number;
}

interface Parts {
  readonly home: SandboxHome;
  readonly settings: RunnerSettings;
  readonly runners: ReadonlyMap<string, Runner>;
}

export type Runners = ReturnType<typeof createRunners>;

/** One container for each language, in which programs of all requests run side by side, each as another user. */
export function createRunners(home: SandboxHome, settings: RunnerSettings) {
  const entries = Object.entries(settings.languages).map(([name, language]): [string, Runner] => [
    name,
    newRunner(name, language, { home, settings }),
  ]);
  const parts: Parts = { home, settings, runners: new Map(entries) };
  return {
    /** Fetches images and starts all containers; resolves with what is wrong with those that cannot be started. */
    boot: async (fetch: FetchImage): Promise<Error[]> => {
      const start = async ({ name, language, kept }: Runner): Promise<unknown> => {
        await fetch(language.image).catch((error: unknown) => {
          throw explained(error, missingLanguage(name, settings.languages));
        });
        return kept.get();
      };
      const started = await Promise.allSettled([...parts.runners.values()].map(start));
      return started.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    },
    run: (language: string, code: string): Promise<Ran> => run(parts, runnerOf(parts, language), code),
    states: async (): Promise<Record<string, 'running' | 'stopped'>> => {
      const all = [...parts.runners.values()].map(
        async ({ name, kept }) => [name, (await kept.isRunning()) ? 'running' : 'stopped'] as const,
      );
      return Object.fromEntries(await Promise.all(all));
    },
    /** How many programs of each language run, and how many wait. */
    load: (): Record<string, { running: number; waiting: number }> =>
      Object.fromEntries(
        [...parts.runners.values()].map(({ name, running, waiting }) => [name, { running, waiting: waiting.length }]),
      ),
    /** Ends the containers that had no request for too long. */
    expire: async (): Promise<void> => {
      const idle = [...parts.runners.values()].filter(
        ({ running, lastUsedAt }) => running === 0 && performance.now() - lastUsedAt > settings.idleMs,
      );
      await Promise.all(idle.map(({ kept }) => kept.close()));
    },
    closeAll: async (): Promise<void> =>
      void (await Promise.all([...parts.runners.values()].map(({ kept }) => kept.close()))),
  };
}

function runnerOf({ runners }: Parts, language: string): Runner {
  const runner = runners.get(language);
  if (runner === undefined) throw sandboxErrors.LANGUAGE_UNKNOWN({ language, known: [...runners.keys()].toSorted() });
  return runner;
}

async function run(parts: Parts, runner: Runner, code: string): Promise<Ran> {
  const leave = await enter(runner);
  try {
    return await execute(parts, runner, code);
  } finally {
    runner.lastUsedAt = performance.now();
    leave();
  }
}

/** Resolves when there is room. Throws RUNNER_BUSY when too many wait already. */
async function enter(runner: Runner): Promise<() => void> {
  if (runner.waiting.length >= WAITING)
    throw sandboxErrors.RUNNER_BUSY({ language: runner.name, waiting: runner.waiting.length });
  if (runner.running >= AT_A_TIME) await new Promise<void>((resolve) => runner.waiting.push(resolve));
  else runner.running += 1;
  return () => {
    // The place goes to the next one, and the number stays.
    const next = runner.waiting.shift();
    if (next === undefined) runner.running -= 1;
    else next();
  };
}

async function execute(parts: Parts, runner: Runner, code: string, tries = 1): Promise<Ran> {
  const { sandbox, isNew } = await runner.kept.get();
  const id = randomUUID();
  const file = `${SANDBOX.tmp}/exec_${id}${runner.language.extension}`;
  const uid = nextUser();
  const output = captureOutput(parts.settings.outputBytes);
  let running: ReturnType<Sandbox['run']> | undefined;
  try {
    await writeProgram(sandbox, { uid, file, code });
    running = sandbox.run(programOf(sandbox, parts.settings, runner, { id, uid, file }), output.sink);
    const end = await running.end;
    const { containerId } = sandbox;
    const { image } = runner.language;
    return { ...end, stdout: output.text('stdout'), stderr: output.text('stderr'), containerId, image, file };
  } catch (error) {
    const again = hasCode(error, sandboxErrors.SANDBOX_GONE) && running?.hasBegun() !== true && !isNew && tries < 3;
    if (!again) throw error;
    await delay(tries);
    return execute(parts, runner, code, tries + 1);
  }
}

let user = USERS.first;

function nextUser(): number {
  user = user >= USERS.last ? USERS.first : user + 1;
  return user;
}

interface ProgramFile {
  readonly uid: number;
  readonly file: string;
}

async function writeProgram(
  sandbox: Sandbox,
  { uid, file, code }: ProgramFile & { readonly code: string },
): Promise<void> {
  const content = Buffer.from(code).toString('base64');
  const place = { uid, root: SANDBOX.tmp, path: file };
  const answer = await sandbox.files({
    op: 'write',
    ...place,
    upload: uid,
    content,
    more: false,
    last: true,
    mode: 0o600,
  });
  if ('error' in answer) throw sandboxErrors.PROGRAM_REFUSED({ reason: answer.error.message });
}

function programOf(
  sandbox: Sandbox,
  { timeoutMs }: RunnerSettings,
  { language }: Runner,
  { id, uid, file }: ProgramFile & { readonly id: string },
): Parameters<Sandbox['run']>[0] {
  const home = `${SANDBOX.tmp}/home_${id}`;
  const env = { ...sandbox.env, HOME: home, TMPDIR: home };
  const argv = ['/bin/sh', '-c', PRIVATE, 'sh', ...commandFor(language, file)] as const;
  return { argv, env, cwd: SANDBOX.tmp, home, uid, stdin: null, timeoutMs, graceMs: 0, clears: PUT_AWAY };
}

function newRunner(name: string, language: Language, { home, settings }: Pick<Parts, 'home' | 'settings'>): Runner {
  const kept = keepSandbox(() =>
    startSandbox(home, wishOf(name, language, settings)).catch((error: unknown) => {
      throw explained(error, missingLanguage(name, settings.languages));
    }),
  );
  return { name, language, kept, running: 0, waiting: [], lastUsedAt: performance.now() };
}

function wishOf(name: string, { image }: Language, { limits }: RunnerSettings): Parameters<typeof startSandbox>[1] {
  return {
    image,
    name: `code-runner-${name}-${randomBytes(2).toString('hex')}`,
    session: randomId(),
    role: RUNNER_ROLE,
    uid: UNUSED_USER,
    limits,
    labels: {},
    wayOut: null,
  };
}
