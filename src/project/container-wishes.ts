import type { Config } from '../config/index.ts';
import type { Environment } from '../lib/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Mode } from './choose-mode.ts';
import type { Project } from './project.ts';

/** What the containers of a run are made from. */
export interface ContainerWishes {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly mode: Mode & { name: 'container' };
  readonly agent: AgentSpec;
  readonly env: Environment;
}
