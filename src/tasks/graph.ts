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
    readonly delete: readonly string[];
    readonly read: readonly string[];
  };
  readonly acceptanceCriteria: readonly string[];
  readonly context: string;
  readonly verification: { readonly command: string; readonly timeoutMs: number } | null;
  /** A shell command that does the task instead of an agent. */
  readonly run: string | null;
  /** How often it may fail; null for as often as the configuration says. */
  readonly attempts: number | null;
  /** Its work may be there already: then it changes nothing, and its verification alone decides. */
  readonly satisfied: boolean;
  /** The name of the agent that does it, and the model that this one is to use; null: those of the run. */
  readonly agent: string | null;
  readonly model: string | null;
  readonly estimateMinutes: number | null;
}

export interface TaskGraph {
  readonly feature: string;
  /** In the order of the file. */
  readonly tasks: readonly Task[];
  /** Sorted and distinct; there may be gaps. */
  readonly levels: readonly number[];
}
