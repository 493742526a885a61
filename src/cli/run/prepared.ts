import type { Config } from '../../config/index.ts';
import type { RunSettings } from '../../state/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { Mode, Project } from '../../project/index.ts';
import type { ModeTeller } from '../render/mode-line.ts';

/** A build that has been thought through and not begun. */
export interface Prepared {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly graphText: string;
  readonly settings: RunSettings;
  readonly mode: Mode;
  /** Says which it is, as the first line of the run. */
  readonly tell: ModeTeller;
  readonly notes: readonly string[];
}
