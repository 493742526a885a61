import { AppError, defineErrors, hasCode, reasonOf, systemCode } from './app-error.ts';
import { inSeconds } from './text/amounts.ts';

/** Whether it has ended a run that had begun. */
interface MayEndRun {
  readonly endsRun?: boolean;
}

const UNWRITTEN: MayEndRun & { readonly file: string; readonly reason: string } = { file: '/x', reason: 'no room' };
const NOT_STARTED: MayEndRun & { readonly what: string; readonly reason: string } = {
  what: 'Starting "git"',
  reason: 'too many files are open',
};

const goOn = ({ endsRun }: MayEndRun): string =>
  endsRun === true ? ' Then go on with --resume: what was finished is kept.' : '';

export const libErrors = defineErrors({
  FILE_UNREADABLE: {
    kind: 'environment',
    example: { file: '/x', reason: 'no rights' },
    message: (f) => `${f.file} cannot be read: ${f.reason}.`,
    hint: () => 'Check that the file exists and that you may read it.',
  },
  FILE_UNWRITABLE: {
    kind: 'environment',
    example: UNWRITTEN,
    message: (f) => `${f.file} cannot be written: ${f.reason}.`,
    hint: (f) => `Make room on the disk, or repair its rights or the disk.${goOn(f)}`,
  },
  FOLDER_UNSAFE: {
    kind: 'environment',
    example: { folder: '/x', reason: 'it is a link or a file' },
    message: (f) =>
      `${f.folder} cannot be used: ${f.reason}. What workers write, and what you have approved, must be out of reach of other users and of your own tools.`,
    hint: () =>
      'Correct that, or name another folder: workers.folder in .mahabharatha/config.yaml, or XDG_STATE_HOME in your environment.',
  },
  INTERNAL: {
    kind: 'bug',
    example: { what: 'x is not a function' },
    message: (f) => `Internal error: ${f.what}`,
    hint: () => 'This is a bug in Mahabharatha. Please report it with the output of --debug.',
  },
  LOCK_BUSY: {
    kind: 'environment',
    example: { file: '/x.lock', pid: 7, waitedMs: 120_000 },
    message: (f) => `${f.file} is held by process ${f.pid}; gave up after ${inSeconds(f.waitedMs)}.`,
    hint: (f) => `Wait for process ${f.pid} to finish, or end it, then try again.`,
  },
  LOCK_FOREIGN: {
    kind: 'environment',
    example: { file: '/x.lock', pid: 7, host: 'build-7', otherHost: true },
    message: (f) =>
      `${f.file} is held by process ${f.pid} of ${f.otherHost ? 'the host' : 'another container or PID namespace of'} ${f.host}; it cannot be seen from here whether that process still runs.`,
    hint: (f) =>
      f.otherHost
        ? `Go on at ${f.host} — or, if that host is gone or renamed and nothing runs there, remove the lock: rm '${f.file}'`
        : `Go on where that process was started — or, if that container has ended and nothing runs there, remove the lock: rm '${f.file}'`,
  },
  PROCESSES_UNSEEN: {
    kind: 'environment',
    example: { waitedMs: 5000 },
    message: (f) =>
      `"ps" was asked several times and gave no whole answer within ${inSeconds(f.waitedMs)}, so it is not known which processes still run.`,
    hint: () => 'Try again when "ps -A" answers; a run that was ended by this goes on with --resume.',
  },
  PROCESS_NOT_STARTED: {
    kind: 'environment',
    example: { command: 'ps', reason: 'spawn ps ENOENT' },
    message: (f) => `"${f.command}" could not be started: ${f.reason}.`,
    hint: (f) => `Check that "${f.command}" is installed and on the PATH.`,
  },
  RESOURCES_EXHAUSTED: {
    kind: 'environment',
    example: NOT_STARTED,
    message: (f) => `${f.what} was not possible: ${f.reason}.`,
    hint: (f) =>
      `End the programs that use it up or raise the limit (ulimit -n for open files, ulimit -u for processes).${goOn(f)}`,
  },
  USAGE: {
    kind: 'usage',
    example: { problem: 'There is no option --fast.', hint: 'See: mahabharatha --help' },
    message: (f) => f.problem,
    hint: (f) => f.hint,
  },
});

/** What a machine can run out of, by the system's code for it. */
const EXHAUSTED: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open in this process (EMFILE)',
  ENFILE: 'too many files are open on this machine (ENFILE)',
  EAGAIN: 'too many processes run (EAGAIN)',
  ENOMEM: 'there is no memory left (ENOMEM)',
};

/** No room, no right to write, a disk that fails: problems of the machine, in whatever code they appear. */
const UNWRITABLE: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your share of the disk is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'you have no right to it',
  EPERM: 'you have no right to it',
  EIO: 'the disk has an error',
};

/** In plain words where the system's would name the file once more. */
export function diskReason(error: unknown): string {
  const code = systemCode(error) ?? '';
  return code in UNWRITABLE ? `${code}: ${UNWRITABLE[code]}` : reasonOf(error);
}

/** A parent that is not there, a file in its place: what keeps a folder from being made is outside of this program. */
const isOfMaking = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && error.syscall === 'mkdir';

const READING = new Set(['read', 'scandir', 'stat', 'lstat', 'fstat', 'readlink', 'access']);

/** The machine has run out of something that `what` needs. */
export function exhausted(what: string, error: unknown): AppError {
  return libErrors.RESOURCES_EXHAUSTED(
    { what, reason: EXHAUSTED[systemCode(error) ?? ''] ?? reasonOf(error) },
    { cause: error },
  );
}

/** The error of a run that had begun: a problem of the machine says that the run can go on. */
export function endOfRun(error: unknown): unknown {
  const { FILE_UNWRITABLE, RESOURCES_EXHAUSTED } = libErrors;
  const known: unknown = asAppError(error);
  if (hasCode(known, FILE_UNWRITABLE)) return FILE_UNWRITABLE({ ...known.facts, endsRun: true }, { cause: error });
  if (hasCode(known, RESOURCES_EXHAUSTED))
    return RESOURCES_EXHAUSTED({ ...known.facts, endsRun: true }, { cause: error });
  return error;
}

/** Any thrown value as an AppError: what is neither ours nor a problem of the machine is a bug. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = systemCode(error) ?? '';
  if (code in EXHAUSTED) return exhausted('What was to be done', error);
  if (code in UNWRITABLE || isOfMaking(error)) {
    const file = error instanceof Error && 'path' in error ? String(error.path) : 'A file';
    const reading = error instanceof Error && 'syscall' in error && READING.has(String(error.syscall));
    const facts = { file, reason: diskReason(error) };
    return libErrors[reading ? 'FILE_UNREADABLE' : 'FILE_UNWRITABLE'](facts, { cause: error });
  }
  return libErrors.INTERNAL({ what: reasonOf(error) }, { cause: error });
}
