import { statSync } from 'node:fs';
import { hasCode, inBytes, inSeconds, libErrors, MOST_OUTPUT, repeated, run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { isHarmless, isPassingFailure, saysPassing } from './repeatable.ts';

/** The author of our commits; given to each command, never written into a git config. */
export const OUR_IDENTITY = { name: 'Mahabharatha', email: 'mahabharatha@localhost' } as const;

/**
 * Objects and refs that a run's state names must be on the disk before the state is. By default git does not wait for
 * that. "batch" waits once for all objects that one command adds.
 */
const DURABLE = [
  ['core.fsync', 'committed,loose-object,reference'],
  ['core.fsyncMethod', 'batch'],
] as const;

/** No hook of the user's or of a task's runs for our commands, nothing is started in the background, and nothing is repacked. */
const SAFE_CONFIG = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
  'core.quotePath=false',
  ...DURABLE.map((setting) => setting.join('=')),
].flatMap((setting) => ['-c', setting]);

/** Variables by which git would use another repository, index or configuration. */
const REDIRECTING =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|CEILING_DIRECTORIES|QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX|EXTERNAL_DIFF|DIFF_OPTS|EDITOR|LITERAL_PATHSPECS|GLOB_PATHSPECS|NOGLOB_PATHSPECS|ICASE_PATHSPECS|TRACE.*)$/;

interface GitOptions {
  /** Text, or an open file descriptor that is read from its position on. */
  readonly input?: string | number;
  /** An open file descriptor that takes stdout. */
  readonly output?: number;
  /** Git is killed when it takes longer. */
  readonly timeoutMs?: number;
  /** Characters; git is killed when it prints more. */
  readonly mostOutput?: number;
  /** Exit statuses that are an answer, not a failure. */
  readonly answers?: readonly number[];
  readonly env?: Environment;
}

interface GitResult {
  readonly code: number;
  readonly stdout: string;
}

/** git, bound to a folder and a clean environment. */
export interface GitCommand {
  readonly cwd: string;
  /** For all commands; a single one may have more. */
  readonly env: Environment;
  /** Runs git and returns its stdout; throws GIT_FAILED for any exit status but 0. */
  text(args: readonly string[], options?: Omit<GitOptions, 'answers'>): Promise<string>;
  /** Runs git and returns exit status and stdout; throws only for a status that is not among `answers`. */
  result(args: readonly string[], options: GitOptions): Promise<GitResult>;
}

/** `own` are variables of ours, which may redirect git. */
export function gitIn(cwd: string, env: Environment, own: Environment = {}): GitCommand {
  const quiet = { LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
  const base = { ...withoutRedirections(env), ...quiet, ...own };
  const once = async (args: readonly string[], options: GitOptions): Promise<GitResult> => {
    const end = await runGit(args, {
      cwd,
      env: { ...base, ...options.env },
      ...(options.input === undefined ? {} : { input: options.input }),
      ...(options.output === undefined ? {} : { output: options.output }),
      ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      mostOutput: options.mostOutput ?? MOST_OUTPUT,
    });
    // "There is no such commit" and "it cannot be read just now" end with the same status.
    const answered = end.code === 0 || !saysPassing(end.stderr);
    if (end.code === null || end.tooMuch || !answered || !(options.answers ?? [0]).includes(end.code))
      throw gitErrors.GIT_FAILED({ args, cwd, exit: exitInWords(end, options), stderr: end.stderr });
    return { code: end.code, stdout: end.stdout };
  };
  const result = (args: readonly string[], options: GitOptions): Promise<GitResult> =>
    // A descriptor can be read only once.
    isHarmless(args) && typeof options.input !== 'number'
      ? repeated(() => once(args, options), isPassingFailure)
      : once(args, options);
  return { cwd, env: base, result, text: async (args, options) => (await result(args, options ?? {})).stdout };
}

const TOO_MUCH = 'too much output';

function exitInWords(
  end: Awaited<ReturnType<typeof run>>,
  { timeoutMs = 0, mostOutput = MOST_OUTPUT }: GitOptions,
): string {
  if (end.tooMuch) return `${TOO_MUCH}: more than ${inBytes(mostOutput)}`;
  if (end.code !== null) return `exit status ${end.code}`;
  return end.timedOut ? `no end within ${inSeconds(timeoutMs)}` : `signal ${end.signal}`;
}

/** Has git failed because it printed more than it may? */
export function saidTooMuch(error: unknown): boolean {
  return hasCode(error, gitErrors.GIT_FAILED) && error.facts.exit.startsWith(TOO_MUCH);
}

/** The user's environment for workers and all that they start: nothing redirects git, and git starts nothing in the background. */
export function workerEnvironment(env: Environment): Environment {
  return withGitSettings(withoutRedirections(env), [
    ['core.fsmonitor', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    // Objects that a task has written are not written again when its work is taken: they must be on the disk too.
    ...DURABLE,
  ]);
}

/** An environment in which git has these settings as well. */
export function withGitSettings(env: Environment, settings: readonly (readonly [string, string])[]): Environment {
  const given = Number(env['GIT_CONFIG_COUNT'] ?? 0) || 0;
  const added = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${given + index}`, key],
    [`GIT_CONFIG_VALUE_${given + index}`, value],
  ]);
  return { ...env, ...Object.fromEntries(added), GIT_CONFIG_COUNT: String(given + settings.length) };
}

function withoutRedirections(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !REDIRECTING.test(name)));
}

export function identityEnvironment(): Environment {
  return {
    GIT_AUTHOR_NAME: OUR_IDENTITY.name,
    GIT_AUTHOR_EMAIL: OUR_IDENTITY.email,
    GIT_COMMITTER_NAME: OUR_IDENTITY.name,
    GIT_COMMITTER_EMAIL: OUR_IDENTITY.email,
  };
}

async function runGit(args: readonly string[], options: Parameters<typeof run>[2]): ReturnType<typeof run> {
  try {
    return await run('git', [...SAFE_CONFIG, ...args], options);
  } catch (error) {
    if (!hasCode(error, libErrors.PROCESS_NOT_STARTED)) throw error;
    // The system's error is the same for a missing folder and for a missing program.
    if (statSync(options.cwd, { throwIfNoEntry: false })?.isDirectory())
      throw gitErrors.GIT_MISSING({ reason: error.facts.reason });
    const facts = { args, cwd: options.cwd, exit: 'not started', stderr: 'there is no such folder' };
    throw gitErrors.GIT_FAILED(facts, { cause: error });
  }
}

/** What git prints with `-z`: entries that end with a NUL. */
export function entriesOf(text: string): string[] {
  return text.split('\0').filter((entry) => entry !== '');
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
