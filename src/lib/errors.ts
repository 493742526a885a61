import { describeError } from './error-codes.ts';
import type { ErrorCode, ErrorFacts } from './error-codes.ts';

/** The one error class: a code, the facts, and from these the text, the hint and the exit status. */
export class AppError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly facts: ErrorFacts[Code];
  readonly hint: string;
  readonly exit: number;

  constructor(code: Code, facts: ErrorFacts[Code], options?: { cause?: unknown }) {
    const text = describeError(code, facts);
    super(text.message, options);
    this.code = code;
    this.facts = facts;
    this.hint = text.hint;
    this.exit = text.exit;
  }
}

export function hasCode<Code extends ErrorCode>(error: unknown, code: Code): error is AppError<Code> {
  return error instanceof AppError && error.code === code;
}

/** What a machine can run out of, by the system's code for it. */
const EXHAUSTED: Readonly<Record<string, string>> = {
  EMFILE: 'too many files are open in this process (EMFILE)',
  ENFILE: 'too many files are open on this machine (ENFILE)',
  EAGAIN: 'too many processes run (EAGAIN)',
  ENOMEM: 'there is no memory left (ENOMEM)',
};

/** The machine's doing, wherever it strikes: no room, no right to write, a disk that fails. */
const UNWRITABLE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EIO']);

const READING = new Set(['read', 'scandir', 'stat', 'lstat', 'fstat', 'readlink', 'access']);

/** The machine has run out of something; `what` was to be done with it. */
export function exhausted(what: string, error: unknown): AppError<'RESOURCES_EXHAUSTED'> {
  return new AppError(
    'RESOURCES_EXHAUSTED',
    { what, reason: EXHAUSTED[systemCode(error) ?? ''] ?? reasonOf(error) },
    { cause: error },
  );
}

/** Anything that was thrown, as an AppError: what is not one of ours is a bug. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = systemCode(error) ?? '';
  if (code in EXHAUSTED) return exhausted('What was to be done', error);
  if (UNWRITABLE.has(code)) {
    const file = error instanceof Error && 'path' in error ? String(error.path) : 'A file of the run';
    const reading = error instanceof Error && 'syscall' in error && READING.has(String(error.syscall));
    const facts = { file, reason: reasonOf(error) };
    return new AppError(reading ? 'FILE_UNREADABLE' : 'FILE_UNWRITABLE', facts, { cause: error });
  }
  return new AppError('INTERNAL', { what: reasonOf(error) }, { cause: error });
}

/** The short text of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The system error code (ENOENT, EACCES, …), if it has one. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}
