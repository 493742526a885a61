/** One unit of work: nothing optional, nothing unchecked. */
export interface Task {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly level: number;
  readonly dependencies: readonly string[];
  /** Paths and globs as they stand in the file. */
  readonly files: {
    readonly create: readonly string[];
    readonly modify: readonly string[];
    readonly read: readonly string[];
  };
  readonly acceptanceCriteria: readonly string[];
  readonly context: string;
  readonly verification: { readonly command: string; readonly timeoutMs: number } | null;
  /** A shell command that does the task instead of an agent. */
  readonly run: string | null;
  readonly estimateMinutes: number | null;
}

export interface TaskGraph {
  readonly feature: string;
  /** In the order of the file. */
  readonly tasks: readonly Task[];
  /** Sorted and distinct; there may be gaps. */
  readonly levels: readonly number[];
}
