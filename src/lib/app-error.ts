/** What has to change: the user's input, the machine, the work itself, or us. */
type ErrorKind = 'usage' | 'environment' | 'work' | 'bug';

const EXIT_BY_KIND: Record<ErrorKind, number> = { usage: 2, environment: 4, work: 1, bug: 1 };

interface ErrorSpec<Facts> {
  readonly kind: ErrorKind;
  /** One set of facts. It gives the facts their types, the tests their input and the reference its text. */
  readonly example: Facts;
  /** What went wrong, which, how much. */
  readonly message: (facts: Raised<Facts>) => string;
  /** What to do next, in one sentence or command. */
  readonly hint: (facts: Raised<Facts>) => string;
}

type Raised<Facts> = { readonly [Name in keyof Facts]: Facts[Name] extends string[] ? readonly string[] : Facts[Name] };

/** Makes the error of one code. Without all its facts the call does not compile. */
export interface ErrorMaker<Code extends string = string, Facts = object> {
  (facts: Facts, options?: ErrorOptions): AppError<Code, Facts>;
  readonly code: Code;
  readonly example: Facts;
}

/** The one error class: a code, the facts, and from these the text, the hint and the exit status. */
export class AppError<Code extends string = string, Facts = unknown> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly facts: Facts;
  readonly hint: string;
  readonly exit: number;

  constructor(code: Code, facts: Facts, text: ErrorText, options?: ErrorOptions) {
    super(text.message, options);
    this.code = code;
    this.facts = facts;
    this.hint = text.hint;
    this.exit = text.exit;
  }
}

interface ErrorText {
  readonly message: string;
  readonly hint: string;
  readonly exit: number;
}

/** The codes of a room, each with a function that makes its error. */
export function defineErrors<All extends Record<string, object>>(specs: {
  readonly [Code in keyof All]: ErrorSpec<All[Code]>;
}): { readonly [Code in keyof All & string]: ErrorMaker<Code, Raised<All[Code]>> } {
  const makers = Object.entries(specs as Record<string, ErrorSpec<object>>).map(([code, spec]) => [
    code,
    makerOf(code, spec),
  ]);
  return Object.fromEntries(makers) as { [Code in keyof All & string]: ErrorMaker<Code, Raised<All[Code]>> };
}

function makerOf(code: string, { kind, example, message, hint }: ErrorSpec<object>): ErrorMaker {
  const make = (facts: object, options?: ErrorOptions): AppError<string, object> =>
    new AppError(code, facts, { message: message(facts), hint: hint(facts), exit: EXIT_BY_KIND[kind] }, options);
  return Object.assign(make, { code, example });
}

/** Whether this was thrown, as in `hasCode(error, gitErrors.GIT_FAILED)`. */
export function hasCode<Code extends string, Facts>(
  error: unknown,
  { code }: ErrorMaker<Code, Facts>,
): error is AppError<Code, Facts> {
  return error instanceof AppError && error.code === code;
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
