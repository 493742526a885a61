/** What has to change: the user's input, the machine, the work itself, or this program. */
type ErrorKind = 'usage' | 'environment' | 'work' | 'bug';

const EXIT_BY_KIND: Record<ErrorKind, number> = { usage: 2, environment: 4, work: 1, bug: 1 };

interface ErrorSpec<Facts> {
  readonly kind: ErrorKind;
  /** One set of facts: it types them, and tests and the reference use it. */
  readonly example: Facts;
  /** What went wrong, which, how much. */
  readonly message: (facts: Raised<Facts>) => string;
  /** What to do next, in one sentence or command. */
  readonly hint: (facts: Raised<Facts>) => string;
}

type Raised<Facts> = { readonly [Name in keyof Facts]: Facts[Name] extends string[] ? readonly string[] : Facts[Name] };

/** Makes the error of one code. A call that lacks one of its facts does not compile. */
export interface ErrorMaker<Code extends string = string, Facts = object> {
  (facts: Facts, options?: ErrorOptions): AppError<Code, Facts>;
  readonly code: Code;
  readonly example: Facts;
}

/** The one error class: a code, the facts, and from these the text, the hint and the exit status. */
export class AppError<Code extends string = string, Facts = unknown> extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly kind: ErrorKind;
  readonly facts: Facts;
  readonly hint: string;
  readonly exit: number;

  constructor(code: Code, facts: Facts, { kind, message, hint }: ErrorSpec<Facts>, options?: ErrorOptions) {
    super(message(facts as Raised<Facts>), options);
    this.code = code;
    this.kind = kind;
    this.facts = facts;
    this.hint = hint(facts as Raised<Facts>);
    this.exit = EXIT_BY_KIND[kind];
  }
}

type Makers<All> = { readonly [Code in keyof All & string]: ErrorMaker<Code, Raised<All[Code]>> };

/** The codes of a room, each with a function that makes its error. */
export function defineErrors<All extends Record<string, object>>(specs: {
  readonly [Code in keyof All]: ErrorSpec<All[Code]>;
}): Makers<All> {
  const entries = Object.entries(specs as Record<string, ErrorSpec<object>>);
  return Object.fromEntries(entries.map(([code, spec]) => [code, makerOf(code, spec)])) as Makers<All>;
}

function makerOf(code: string, spec: ErrorSpec<object>): ErrorMaker {
  const make = (facts: object, options?: ErrorOptions): AppError<string, object> =>
    new AppError(code, facts, spec, options);
  return Object.assign(make, { code, example: spec.example });
}

/** Whether the error has this code, as in `hasCode(error, gitErrors.GIT_FAILED)`. */
export function hasCode<Code extends string, Facts>(
  error: unknown,
  { code }: ErrorMaker<Code, Facts>,
): error is AppError<Code, Facts> {
  return error instanceof AppError && error.code === code;
}

/** The text of any thrown value. */
export function reasonOf(error: unknown): string {
  // The words of the system, "illegal operation on a directory", do not say what is wrong.
  if (systemCode(error) === 'EISDIR') return 'it is a folder';
  return error instanceof Error ? error.message : String(error);
}

/** The system error code (ENOENT, EACCES, …), if it has one. */
export function systemCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}
