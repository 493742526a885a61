import type { Config } from '../config/index.ts';
import type { RunSettings } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Mode } from './choose-mode.ts';
import type { Project } from './project.ts';

/** A build that has been thought through and not begun. */
export interface Prepared {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly graphText: string;
  readonly settings: RunSettings;
  readonly mode: Mode;
  readonly notes: readonly string[];
}
