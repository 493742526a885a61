import type { Config } from '../config/index.ts';
import type { Environment } from '../lib/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Mode } from './choose-mode.ts';
import type { Project } from './project.ts';
import { wireSubprocesses } from './wire.ts';
import type { Workers } from './wire.ts';

/** What the workers of a run are made from, whatever they run in. */
interface WorkerWishes {
  readonly project: Project;
  readonly config: Config;
  readonly graph: TaskGraph;
  readonly mode: Mode;
  readonly agent: AgentSpec;
  readonly env: Environment;
}

/** Workers as the mode wants them. What containers need is loaded only for them. */
export async function wireWorkers(wishes: WorkerWishes): Promise<Workers> {
  const { mode, env } = wishes;
  if (mode.name === 'subprocess')
    return { launcher: wireSubprocesses(), env, redact: (text) => text, warnings: Promise.resolve([]) };
  const { wireContainers } = await import('./wire-containers.ts');
  return wireContainers({ ...wishes, mode });
}

/** What a run with these workers would have to say before its start; what it could not use is refused here as there. */
export async function checkWorkers(wishes: WorkerWishes): Promise<readonly string[]> {
  const { mode } = wishes;
  if (mode.name !== 'container') return [];
  const { checkContainers } = await import('./wire-containers.ts');
  return checkContainers({ ...wishes, mode });
}
