import type { Config } from '../config/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Project } from './project.ts';

/** What the user asks of a run. The configuration decides what is left out. */
export interface RunWishes {
  readonly feature?: string | undefined;
  /** An absolute path. */
  readonly graphFile?: string | undefined;
  readonly workers?: number | undefined;
  readonly mode?: string | undefined;
  readonly agent?: string | undefined;
  readonly base?: string | undefined;
  /** In US dollars: what agents may cost in the run, and in all attempts of one task. */
  readonly maxCost?: number | undefined;
  readonly maxTaskCost?: number | undefined;
  /** How long this process may drive the run. */
  readonly maxMs?: number | undefined;
  /** To stay at a usage limit, and to go on at its end. */
  readonly wait?: boolean;
  readonly resume?: boolean;
  /** Also a feature that was merged already. */
  readonly again?: boolean;
  /** Nothing is built and nothing is started. */
  readonly dryRun?: boolean;
  /** Build the image also when there is none yet. */
  readonly autoBuild?: boolean;
}

export interface LoadedGraph {
  readonly graphText: string;
  readonly graph: TaskGraph;
  readonly warnings: readonly string[];
}

/** A feature that is to be built. */
export interface RunRequest extends LoadedGraph {
  readonly project: Project;
  /** From settings that the user has approved. */
  readonly config: Config;
  readonly wishes: RunWishes;
}
