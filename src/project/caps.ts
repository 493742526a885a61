import type { Config } from '../config/index.ts';
import { tellsUsage } from '../protocol/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import type { Caps } from '../state/index.ts';
import { agentTasks } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { nameOf } from './check-agent.ts';
import { projectErrors } from './errors.ts';
import type { RunRequest, RunWishes } from './run-request.ts';

type Asked = Pick<RunWishes, 'maxCost' | 'maxTaskCost'>;

/** Pure. What was asked for holds for all resumes; else the configuration of today. */
export function chooseCaps(asked: Asked, known: Caps | undefined, { cost, task_cost }: Config['limits']): Caps {
  return { run: choose(asked.maxCost, known?.run, cost), task: choose(asked.maxTaskCost, known?.task, task_cost) };
}

function choose(
  asked: number | undefined,
  before: Caps['run'] | undefined,
  configured: number | undefined,
): Caps['run'] {
  if (asked !== undefined) return { usd: asked, asked: true };
  if (before?.asked === true) return before;
  return configured === undefined ? null : { usd: configured, asked: false };
}

/** Refuses a cap that could not hold, because it is not known what the agent costs. */
export function checkCaps({ run, task }: Caps, agent: AgentSpec, graph: TaskGraph): void {
  const tasks = agentTasks(graph).length;
  if ((run === null && task === null) || tasks === 0 || tellsUsage(agent)) return;
  throw projectErrors.COST_UNKNOWN({ agent: nameOf(agent) });
}

/** How long one process may drive the run; null for without end. */
export function mostMs({ wishes, config }: Pick<RunRequest, 'wishes' | 'config'>): number | null {
  return wishes.maxMs ?? config.limits.time ?? null;
}
