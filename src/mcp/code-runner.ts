import type { CallHooks, CodeRan, CodeWish, Package } from '../code/index.ts';

/** Where the code of clients runs. */
export interface CodeRunner {
  readonly mode: 'container' | 'preload';
  run(session: string, wish: CodeWish, hooks: CallHooks): Promise<CodeRan>;
  /** False when there is no such session. */
  reset(session: string): Promise<boolean>;
  /** Null where code has no packages of npm. */
  readonly packages: RunnerPackages | null;
}

export interface RunnerPackages {
  /** Names with or without a version, as in "zod@3". Returns which the session has now. */
  install(session: string, requests: readonly string[], hooks: CallHooks): Promise<readonly Package[]>;
  list(
    session: string,
    hooks: CallHooks,
  ): Promise<{ readonly session: readonly Package[]; readonly cached: readonly Package[] }>;
}
