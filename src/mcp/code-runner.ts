import type { CodeRan, CodeWish } from '../sandbox/index.ts';

/** What comes with one call of a client. */
export interface CallHooks {
  /** Aborted when the client calls it off. */
  readonly signal: AbortSignal;
  /** What is done before the code runs, for people. */
  readonly onProgress: (text: string) => void;
}

/** Where the code of clients runs. */
export interface CodeRunner {
  run(session: string, wish: CodeWish, hooks: CallHooks): Promise<CodeRan>;
  /** False when there is no such session. */
  reset(session: string): Promise<boolean>;
}
