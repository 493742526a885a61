import { agentErrors } from '../agents/errors.ts';
import type { Config } from '../config/index.ts';
import { agentName, tellsCost } from '../protocol/index.ts';
import type { Caps } from '../state/index.ts';
import type { UsedAgent } from './run-agents.ts';
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

/** Refuses a cap that could not hold, because it is not known what an agent costs. */
export function checkCaps({ run, task }: Caps, used: readonly UsedAgent[]): void {
  if (run === null && task === null) return;
  const silent = used.find(({ spec }) => !tellsCost(spec));
  if (silent !== undefined) throw agentErrors.COST_UNKNOWN({ agent: agentName(silent.spec) });
}

/** How long one process may drive the run; null for without end. */
export function mostMs({ wishes, config }: Pick<RunRequest, 'wishes' | 'config'>): number | null {
  return wishes.maxMs ?? config.limits.time ?? null;
}
