import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { randomId, untilAll } from '../lib/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import { captureOutput } from './capture.ts';
import type { Captured } from './capture.ts';
import { sandboxErrors } from './errors.ts';
import { explained, missingLanguage } from './fetch-image.ts';
import type { FetchImage } from './fetch-image.ts';
import { forkFor, startForkServer } from './fork-server.ts';
import { keepSandbox, wasGoneBefore } from './kept-sandbox.ts';
import type { KeptSandbox } from './kept-sandbox.ts';
import { besideOthers } from './languages.ts';
import type { Language, Languages } from './languages.ts';
import { hasNoRoom, newFolder, newPlace, nextOf, programOf, writeProgram } from './programs.ts';
import type { Job, Place } from './programs.ts';
import { enter } from './runner-places.ts';
import type { RunnerPlaces } from './runner-places.ts';
import { UNKNOWN_VERSION, versionOf } from './version.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox, SandboxHome, SandboxLimits } from './sandbox.ts';

/** On the container of a language. */
const RUNNER_ROLE = 'runner';
/** Owns the folders that no execution has. */
const UNUSED_USER = 60_000;

export interface RunnerSettings {
  readonly languages: Languages;
  readonly limits: SandboxLimits;
  readonly timeoutMs: number;
  readonly outputBytes: number;
  /** How long a container without a request stays. */
  readonly idleMs: number;
}

export interface RunWish {
  /** The code of a program, or several files. */
  readonly program: string | Job;
  /** Fires when the client that waits for the result has gone. */
  readonly gone: AbortSignal;
}

export interface Ran extends SandboxEnd {
  readonly stdout: Captured;
  readonly stderr: Captured;
  /** Both, in the order in which they came. */
  readonly output: Captured;
  readonly containerId: string;
  readonly image: string;
  readonly file: string;
}

interface RunnerVersion {
  readonly name: string;
  readonly version: string;
  readonly extension: string;
}

interface Runner extends RunnerPlaces {
  /** Of the interpreter; undefined until it was asked. */
  version: string | undefined;
  readonly language: Language;
  readonly kept: KeptSandbox;
  lastUsedAt: number;
  /** Where the next program will be; a process may wait for it there. */
  next: Place | undefined;
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
    boot: (fetch: FetchImage): Promise<Error[]> => boot(parts, fetch),
    run: (language: string, wish: RunWish): Promise<Ran> => run(parts, runnerOf(parts, language), wish),
    /** The languages whose interpreters can be asked, with what they say. */
    versions: (): Promise<RunnerVersion[]> => versions(parts),
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
      await untilAll(idle.map(({ kept }) => kept.end()));
    },
    closeAll: (): Promise<void> => untilAll([...parts.runners.values()].map(({ kept }) => kept.close())),
  };
}

async function boot({ runners, settings }: Parts, fetch: FetchImage): Promise<Error[]> {
  const start = async (runner: Runner): Promise<void> => {
    const { name, language, kept } = runner;
    await fetch(language.image).catch((error: unknown) => {
      throw explained(error, missingLanguage(name, settings.languages));
    });
    await kept.get();
    await asVersion(runner);
  };
  const started = await Promise.allSettled([...runners.values()].map(start));
  return started.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
}

async function versions({ runners }: Parts): Promise<RunnerVersion[]> {
  const asked = [...runners.values()].map(async (runner) => {
    const version = await asVersion(runner).catch(() => undefined);
    return version === undefined ? [] : [{ name: runner.name, version, extension: runner.language.extension }];
  });
  return (await Promise.all(asked)).flat();
}

function runnerOf({ runners }: Parts, language: string): Runner {
  const runner = runners.get(language);
  if (runner === undefined) throw sandboxErrors.LANGUAGE_UNKNOWN({ language, known: [...runners.keys()].toSorted() });
  return runner;
}

async function run(parts: Parts, runner: Runner, wish: RunWish): Promise<Ran> {
  const leave = await enter(runner, wish.gone);
  try {
    return await execute(parts, runner, wish);
  } finally {
    runner.lastUsedAt = performance.now();
    leave();
  }
}

async function execute(parts: Parts, runner: Runner, wish: RunWish, tries = 1): Promise<Ran> {
  const { sandbox, isNew } = await runner.kept.get();
  const { program, gone } = wish;
  gone.throwIfAborted();
  const { settings } = parts;
  const { language, place, files, job } = layOut(sandbox, runner, program);
  const output = captureOutput(settings.outputBytes);
  const fork = job.memoryBytes === null ? forkFor(sandbox, language, place, job.args) : null;
  let running: ReturnType<Sandbox['run']> | undefined;
  const kill = (): void => running?.kill();
  gone.addEventListener('abort', kill, { once: true });
  try {
    // The agent does one after the other, so that nothing has to wait here.
    const written = writeProgram(sandbox, place, files);
    const timeoutMs = job.timeoutMs ?? settings.timeoutMs;
    const wish = programOf(sandbox, { ...job, language, place, fork, timeoutMs });
    runner.next ??= newPlace(sandbox, runner.language.extension);
    const next = nextOf(sandbox, runner.language, runner.next, fork !== null);
    running = sandbox.run({ ...wish, ...next }, output.sink);
    const [end] = await Promise.all([running.end, written]);
    if (end.problem !== null) throw sandboxErrors.PROGRAM_REFUSED({ reason: end.problem });
    const [stdout, stderr, both] = [output.text('stdout'), output.text('stderr'), output.text('both')];
    return { ...end, stdout, stderr, output: both, ...placeOf(sandbox, runner), file: place.file };
  } catch (error) {
    kill();
    // The agent has other room for what begins when its folder is full.
    if ((!wasGoneBefore(error, isNew, running) && !hasNoRoom(error)) || tries >= 3) throw error;
    await delay(tries);
    return execute(parts, runner, wish, tries + 1);
  } finally {
    gone.removeEventListener('abort', kill);
  }
}

const placeOf = ({ containerId }: Sandbox, { language }: Runner): Pick<Ran, 'containerId' | 'image'> => ({
  containerId,
  image: language.image,
});

/** Which files there are, and where. */
function layOut(sandbox: Sandbox, runner: Runner, program: string | Job) {
  const { language } = runner;
  if (typeof program === 'string') {
    const place = runner.next ?? newPlace(sandbox, language.extension);
    runner.next = undefined;
    const content = Buffer.from(program).toString('base64');
    const job = { args: [], stdin: null, timeoutMs: null, memoryBytes: null };
    return { language, place, files: [{ path: place.file, content }], job };
  }
  const place = newFolder(sandbox, program.files[0]?.name ?? '');
  const files = program.files.map(({ name, content }) => ({ path: path.posix.join(place.cwd, name), content }));
  return { language: besideOthers(language), place, files, job: program };
}

/** Asked once: an image that changes has another container. */
async function asVersion(runner: Runner): Promise<string> {
  runner.version ??= await versionOf((await runner.kept.get()).sandbox, runner.language);
  return runner.version ?? UNKNOWN_VERSION;
}

function newRunner(name: string, language: Language, { home, settings }: Pick<Parts, 'home' | 'settings'>): Runner {
  const kept = keepSandbox(async () => {
    const sandbox = await startSandbox(home, wishOf(name, language, settings)).catch((error: unknown) => {
      throw explained(error, missingLanguage(name, settings.languages));
    });
    // Programs are started without it until it is there.
    void startForkServer(sandbox, language).catch(() => undefined);
    return sandbox;
  });
  return {
    version: undefined,
    name,
    language,
    kept,
    running: 0,
    waiting: [],
    lastUsedAt: performance.now(),
    next: undefined,
  };
}

function wishOf(name: string, { image }: Language, { limits }: RunnerSettings): Parameters<typeof startSandbox>[1] {
  return {
    image,
    name: `code-runner-${name}-${randomBytes(2).toString('hex')}`,
    session: randomId(),
    role: RUNNER_ROLE,
    isShared: true,
    uid: UNUSED_USER,
    limits,
    labels: {},
    wayOut: null,
    cache: null,
  };
}
