import type { Config } from '../config/index.ts';
import type { RunSettings } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Mode } from './choose-mode.ts';
import type { LoadedGraph } from './load-graph.ts';
import { placeWorkers } from './project.ts';
import type { Project } from './project.ts';
import type { RunFace, RunHost } from './run-listener.ts';
import { modeOfRun } from './run-mode.ts';
import type { RunWishes } from './run-wishes.ts';
import { runSettings } from './wire.ts';

/** A run that has been thought through and not begun. */
export interface Prepared {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly graphText: string;
  readonly settings: RunSettings;
  readonly mode: Mode;
  readonly wishes: RunWishes;
  readonly notes: readonly string[];
}

interface Known {
  readonly project: Project;
  /** From settings that the user has approved. */
  readonly config: Config;
  readonly loaded: LoadedGraph;
  readonly wishes: RunWishes;
}

/** Finds out what workers run in, and builds what they need for it; starts nothing. */
export async function prepareRun(known: Known, host: RunHost, face: RunFace): Promise<Prepared> {
  const { config, wishes } = known;
  const project = await placeWorkers(known.project, config, host.env);
  const { graph, text, warnings } = known.loaded;
  const mode = await modeOfRun({ project, config, graph, wishes }, host, face);
  const workers = wishes.workers ?? config.workers.count;
  const settings = runSettings(config, { workers, mode: mode.name, agent: wishes.agent ?? config.agent });
  return { project, config, graph, graphText: text, settings, mode, wishes, notes: warnings };
}
