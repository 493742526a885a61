import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { hasCode } from '../lib/index.ts';
import { SANDBOX, WITHOUT_BASH_ENV } from '../protocol/index.ts';
import type { ForkWish, ProgramAhead, StartWish } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import { commandFor } from './languages.ts';
import type { Language } from './languages.ts';
import type { Sandbox } from './sandbox.ts';

const PUT_AWAY = ['/tmp', '/dev/shm'];

/** A file is to be a folder, too, or its path is too long. */
const NO_PATH: ReadonlySet<string> = new Set(['ENOTDIR', 'EISDIR', 'EEXIST', 'ENOTEMPTY', 'ENAMETOOLONG', 'EINVAL']);

/** What one execution has of its own. */
export interface Place {
  readonly uid: number;
  /** The program. */
  readonly file: string;
  readonly cwd: string;
  readonly home: string;
}

/** A program as several files in a folder of its own. */
export interface Job {
  /** Paths in that folder; the first is the program. Base64. */
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly args: readonly string[];
  /** Base64; null: none. */
  readonly stdin: string | null;
  /** Null: that of the settings. */
  readonly timeoutMs: number | null;
  /** Null: that of the container. */
  readonly memoryBytes: number | null;
}

/** Each execution has a user of its own. */
type Home = Pick<Sandbox, 'users'>;

export function newPlace({ users }: Home, extension: string): Place {
  const file = `${SANDBOX.tmp}/exec_${randomUUID()}${extension}`;
  return { uid: users.nextProgram(), file, cwd: SANDBOX.tmp, home: newHome() };
}

export function newFolder({ users }: Home, program: string): Place {
  const cwd = `${SANDBOX.tmp}/run_${randomUUID()}`;
  return { uid: users.nextProgram(), file: path.posix.join(cwd, program), cwd, home: newHome() };
}

/** No name that is there earlier tells it: another program could take it. */
const newHome = (): string => `${SANDBOX.tmp}/home_${randomUUID()}`;

/** A file of a program, at its place in the sandbox. */
interface ProgramFile {
  readonly path: string;
  /** Base64. */
  readonly content: string;
}

/** Makes the home of the user, and the files. Throws PATH_REFUSED and PROGRAM_REFUSED. */
export async function writeProgram(sandbox: Sandbox, place: Place, files: readonly ProgramFile[]): Promise<void> {
  // The agent does one after the other.
  await Promise.all(files.map((file, at) => writeFile(sandbox, at === 0 ? place : { uid: place.uid }, file)));
}

/** Throws PROGRAM_REFUSED. */
export async function makeHome(sandbox: Sandbox, { uid, home }: Place): Promise<void> {
  const answer = await sandbox.files({ op: 'make-home', uid, home });
  if ('error' in answer) throw sandboxErrors.PROGRAM_REFUSED({ reason: answer.error.message });
}

async function writeFile(
  sandbox: Sandbox,
  { uid, home }: Pick<Place, 'uid'> & Partial<Place>,
  file: ProgramFile,
): Promise<void> {
  const place = { uid, upload: uid, root: SANDBOX.tmp, mode: 0o600, folderMode: 0o700, ...(home && { home }) };
  const answer = await sandbox.files({ op: 'write', ...place, ...file, more: false, last: true });
  if (!('error' in answer)) return;
  const { code, message: reason } = answer.error;
  if (NO_PATH.has(code)) throw sandboxErrors.PATH_REFUSED({ path: path.posix.basename(file.path), reason });
  throw sandboxErrors.PROGRAM_REFUSED({ reason });
}

/** Neighbours have filled the folder of all while a program got its files. */
export const hasNoRoom = (error: unknown): boolean =>
  hasCode(error, sandboxErrors.PROGRAM_REFUSED) && error.facts.reason.startsWith('ENOSPC');

interface ProgramWishes extends Pick<Job, 'args' | 'stdin' | 'memoryBytes'> {
  readonly language: Language;
  readonly place: Place;
  readonly fork: ForkWish | null;
  readonly timeoutMs: number;
}

export function programOf(sandbox: Sandbox, wishes: ProgramWishes): Parameters<Sandbox['run']>[0] {
  const { language, place, fork, timeoutMs, args, stdin, memoryBytes } = wishes;
  const { uid, file, cwd, home } = place;
  const env = { ...sandbox.env, HOME: home, TMPDIR: home };
  const argv = [...commandFor(language, file), ...args] as const;
  const limits = { isPrivate: true, dataBytes: memoryBytes, timeoutMs, graceMs: 0 };
  return { argv, fork, env, cwd, home, uid, stdin, ...limits, clears: PUT_AWAY };
}

/** What bash reads before it opens its program, and waits in. An image may have another file for bash to read. */
const WAIT = `${SANDBOX.runtime}/wait.sh`;
const WITHOUT_WAIT = ['BASH_ENV', ...WITHOUT_BASH_ENV];

/** Of the languages whose programs can wait themselves. */
function waitingOf({ env }: Pick<Sandbox, 'env'>, { command }: Language, file: string): ProgramAhead['waiting'] {
  const isBash = command.length === 2 && command[0] === 'bash' && command[1] === '{filepath}';
  if (!isBash || WITHOUT_WAIT.some((name) => env[name] !== undefined)) return null;
  return { argv: ['bash', file], env: { BASH_ENV: WAIT } };
}

/** A program like most, which will come after this one: what is made ahead for it. */
export function nextOf(
  sandbox: Sandbox,
  language: Language,
  place: Place,
  isForked: boolean,
): Pick<StartWish, 'ahead' | 'placeAhead'> {
  const { uid, home, file } = place;
  const placeAhead = { uid, home, file };
  if (isForked) return { ahead: null, placeAhead };
  const usual = { args: [], stdin: null, memoryBytes: null, fork: null, timeoutMs: 0 };
  const program = programOf(sandbox, { ...usual, language, place });
  return { ahead: aheadOf(program, waitingOf(sandbox, language, file)), placeAhead };
}

/** What the agent must know to start the process of a program ahead. */
export function aheadOf(
  { argv, env, cwd, home, uid, isPrivate, dataBytes }: Omit<ProgramAhead, 'waiting'>,
  waiting: ProgramAhead['waiting'] = null,
): ProgramAhead {
  return { argv, env, cwd, home, uid, isPrivate, dataBytes, waiting };
}
