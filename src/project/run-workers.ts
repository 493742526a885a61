import type { Config } from '../config/index.ts';
import type { Identity } from '../containers/index.ts';
import type { Engine, EngineInfo } from '../engines/index.ts';
import type { Launcher } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { AgentPlace } from './agent-place.ts';
import type { Mode } from './decide-mode.ts';
import type { CredentialsLine } from './credentials-line.ts';
import type { Project } from './project.ts';
import type { UsedAgent } from './run-agents.ts';

/** What the workers of a run are made from, whatever they run in. */
export interface WorkerWishes {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly mode: Mode;
  /** None when every task has a command of its own. */
  readonly used: readonly UsedAgent[];
  readonly env: Environment;
}

export interface ContainerWishes extends WorkerWishes {
  readonly mode: Mode & { name: 'container' };
}

/** What snapshots for workers in containers depend on. */
export interface SnapshotBase {
  readonly engine: Engine;
  readonly info: EngineInfo;
  /** Of what workers run in. */
  readonly imageId: string;
  /** Id of the worker image, without anything of the repository. */
  readonly workerImage: string;
  readonly users: Identity;
  readonly runtime: string | null;
}

/** What runs the workers of a run, and what they are given. */
export interface Workers {
  readonly launcher: Launcher;
  /** What workers and all they run get of the user's environment. */
  readonly env: Environment;
  /** Where their agents are started. */
  readonly place: AgentPlace;
  /** Takes secrets out of what workers print. */
  readonly redact: (text: string) => string;
  /** Which way the credentials of each agent go; none where there are none, or nothing keeps them from it. */
  readonly credentials: readonly CredentialsLine[];
  /** Null for workers without snapshots. */
  readonly snapshotBase: SnapshotBase | null;
  /** Known once npm has named its registries. */
  readonly warnings: Promise<readonly string[]>;
}
