import type { Config } from '../config/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Project } from './project.ts';

/** What is asked of a run. What is left out is as the configuration says, or as it is usual. */
export interface RunWishes {
  readonly feature?: string | undefined;
  readonly graphFile?: string | undefined;
  readonly workers?: number | undefined;
  readonly mode?: string | undefined;
  readonly agent?: string | undefined;
  readonly base?: string | undefined;
  readonly deadlineMs?: number | undefined;
  readonly resume?: boolean;
  /** Nothing is built and nothing is started. */
  readonly dryRun?: boolean;
  /** Also the first image of all. */
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
