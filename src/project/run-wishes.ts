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
