import { agentErrors } from '../agents/errors.ts';
import type { Config } from '../config/index.ts';
import type { ServedAgent } from '../credentials/index.ts';
import { agentName, isKnownAgent, isKnownName, KNOWN_AGENTS } from '../protocol/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import { agentNameOf, agentTasks } from '../tasks/index.ts';
import type { Task, TaskGraph } from '../tasks/index.ts';

/** An agent that tasks of a run ask. */
export interface UsedAgent {
  readonly spec: AgentSpec;
  /** The ids of these tasks. */
  readonly tasks: readonly string[];
  /** That they ask for; null: its default. */
  readonly models: readonly (string | null)[];
}

/** Pure. The agent as the configuration describes it. Throws AGENT_UNKNOWN. */
export function agentSpec(config: Config, name: string, tasks: readonly string[] = []): AgentSpec {
  if (name === 'shell') return { kind: 'shell' };
  if (isKnownName(name)) {
    const { command, model, args } = config[name];
    return { kind: name, command, model: model ?? null, args };
  }
  const custom = Object.hasOwn(config.agents, name) ? config.agents[name] : undefined;
  if (custom === undefined) {
    const known = [...KNOWN_AGENTS, 'shell', ...Object.keys(config.agents)];
    throw agentErrors.AGENT_UNKNOWN({ agent: name, known, tasks });
  }
  const { command, prompt } = custom;
  return { kind: 'command', name, command, prompt };
}

type Asking = Pick<Task, 'id' | 'agent' | 'model'>;

/** Pure. The agent of one task, `name` being that of the run. Throws AGENT_UNKNOWN, or for a model that it cannot be told. */
export function agentOfTask(config: Config, name: string, task: Asking): AgentSpec {
  const { id, agent, model } = task;
  const spec = agentSpec(config, agentNameOf(task, name), agent === null ? [] : [id]);
  if (model === null) return spec;
  if (isKnownAgent(spec)) return { ...spec, model };
  throw agentErrors.AGENT_TAKES_NO_MODEL({ task: id, agent: agentName(spec), model });
}

/** Pure. The agents that the tasks of a graph ask, each once; none when every task has a command of its own. */
export function usedAgents(config: Config, name: string, graph: TaskGraph): readonly UsedAgent[] {
  const used = new Map<string, UsedAgent>();
  for (const task of agentTasks(graph)) {
    const spec = agentOfTask(config, name, task);
    const before = used.get(agentName(spec));
    used.set(agentName(spec), {
      spec: before?.spec ?? spec,
      tasks: [...(before?.tasks ?? []), task.id],
      models: [...new Set([...(before?.models ?? []), isKnownAgent(spec) ? spec.model : null])],
    });
  }
  return [...used.values()];
}

/** Pure. The agents whose credentials workers get. */
export function servedAgents(used: readonly UsedAgent[], config: Config): readonly ServedAgent[] {
  return used.flatMap(({ spec, models }): ServedAgent[] => {
    if (spec.kind === 'shell') return [];
    if (spec.kind !== 'command') return [{ kind: spec.kind, models }];
    return [{ kind: 'command', name: spec.name, names: config.agents[spec.name]?.env ?? [] }];
  });
}
