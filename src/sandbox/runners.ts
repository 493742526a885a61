import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, randomId } from '../lib/index.ts';
import type { SandboxEnd } from '../protocol/index.ts';
import { captureOutput } from './capture.ts';
import type { Captured } from './capture.ts';
import { sandboxErrors } from './errors.ts';
import { explained, missingLanguage } from './fetch-image.ts';
import type { FetchImage } from './fetch-image.ts';
import { forkFor, startForkServer } from './fork-server.ts';
import { keepSandbox } from './kept-sandbox.ts';
import type { KeptSandbox } from './kept-sandbox.ts';
import type { Language, Languages } from './languages.ts';
import { newPlace, programOf, writeProgram } from './programs.ts';
import { startSandbox } from './sandbox.ts';
import type { Sandbox, SandboxHome, SandboxLimits } from './sandbox.ts';

/** On the container of a language. */
const RUNNER_ROLE = 'runner';
/** Owns the folders that no execution has. */
const UNUSED_USER = 60_000;
/** At a time in one container; more wait. */
const AT_A_TIME = 16;
const WAITING = 64;

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
  const { language } = runner;
  const { timeoutMs } = parts.settings;
  const place = newPlace(language.extension);
  const output = captureOutput(parts.settings.outputBytes);
  let running: ReturnType<Sandbox['run']> | undefined;
  try {
    await writeProgram(sandbox, place, code);
    running = sandbox.run(
      programOf(sandbox, { language, place, fork: forkFor(sandbox, place.file), timeoutMs }),
      output.sink,
    );
    const end = await running.end;
    const { containerId } = sandbox;
    return {
      ...end,
      stdout: output.text('stdout'),
      stderr: output.text('stderr'),
      containerId,
      image: language.image,
      file: place.file,
    };
  } catch (error) {
    const again = hasCode(error, sandboxErrors.SANDBOX_GONE) && running?.hasBegun() !== true && !isNew && tries < 3;
    if (!again) throw error;
    await delay(tries);
    return execute(parts, runner, code, tries + 1);
  }
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
