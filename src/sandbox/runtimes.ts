/** What a session of one type runs in. */
export interface Runtime {
  readonly image: string;
  /** Runs before the default command; null for none. */
  readonly setup: string | null;
  /** What the set-up reads, in the workspace: with the same content it is not done again, and without any of them not at all. */
  readonly setupFiles: readonly string[];
  /** Runs when a request names no command. */
  readonly defaultCommand: string;
  /** Without this file the default command cannot run; null: not known. */
  readonly needs: string | null;
}

export type Runtimes = Readonly<Record<string, Runtime>>;
