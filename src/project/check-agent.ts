import { agentErrors } from '../agents/errors.ts';
import { AGENT_FACTS, isOlder, versionIn } from '../agents/index.ts';
import type { Environment } from '../lib/index.ts';
import { agentName, isKnownAgent } from '../protocol/index.ts';
import type { AgentSpec, KnownAgent, KnownAgentSpec } from '../protocol/index.ts';
import { isOfRepository } from './agent-place.ts';
import type { AgentPlace, Sight } from './agent-place.ts';
import type { UsedAgent } from './run-agents.ts';

export interface AgentProblem {
  readonly reason: string;
  readonly remedy: string;
}

/** Refuses agents that cannot work, before the first attempt would fail for it. */
export async function checkAgents(used: readonly UsedAgent[], place: AgentPlace, env: Environment): Promise<void> {
  const found = await Promise.all(used.map(({ spec }) => examineAgent(spec, place, env)));
  const at = found.findIndex(({ problem }) => problem !== null);
  const [first, problem] = [used[at], found[at]?.problem];
  if (first === undefined || problem === null || problem === undefined) return;
  throw agentErrors.AGENT_UNUSABLE({ agent: agentName(first.spec), tasks: first.tasks.length, ...problem });
}

export interface ExaminedAgent {
  /** Null when it told none, or was not asked. */
  readonly version: string | null;
  readonly problem: AgentProblem | null;
}

export async function examineAgent(agent: AgentSpec, place: AgentPlace, env: Environment): Promise<ExaminedAgent> {
  if (agent.kind === 'shell') return { version: null, problem: ONLY_COMMANDS };
  const program = programOf(agent);
  const sight = await place.look(program, isKnownAgent(agent) ? 'version' : 'presence');
  const version = isKnownAgent(agent) ? (versionIn(sight.printed) ?? null) : null;
  return { version, problem: problemOf(agent, place.kind, { ...sight, version }) ?? rootProblem(agent, place, env) };
}

const ONLY_COMMANDS: AgentProblem = {
  reason: 'it does only tasks with a "run" command',
  remedy: 'Give every task a "run" command, or choose another --agent.',
};

/** Pure. How a user gives an agent an account, in words that follow "For". */
export const loginOf = (kind: KnownAgent): string => `${AGENT_FACTS[kind].title}: ${AGENT_FACTS[kind].login}`;

const programOf = (agent: Exclude<AgentSpec, { kind: 'shell' }>): string =>
  agent.kind === 'command' ? (agent.command[0] ?? '') : agent.command;

/** Pure. */
function problemOf(
  agent: Exclude<AgentSpec, { kind: 'shell' }>,
  place: AgentPlace['kind'],
  { found, version }: Pick<Sight, 'found'> & { readonly version: string | null },
): AgentProblem | null {
  if (!found) {
    const program = programOf(agent);
    if (isOfRepository(program))
      return {
        reason: `"${program}" is no executable file of the repository`,
        remedy: `Make it one (chmod +x), or name another command for the agent in .mahabharatha/config.yaml.`,
      };
    const where = place === 'machine' ? 'on the PATH' : 'in the image of the workers';
    return { reason: `"${program}" is not ${where}`, remedy: remedyFor(agent, place) };
  }
  if (!isKnownAgent(agent) || version === null) return null;
  const { title, minimum } = AGENT_FACTS[agent.kind];
  if (!isOlder(version, minimum)) return null;
  return {
    reason: `${title} ${version} is older than ${minimum}, the first version that is understood`,
    remedy: newerOf(agent, place),
  };
}

function remedyFor(agent: Exclude<AgentSpec, { kind: 'shell' }>, place: AgentPlace['kind']): string {
  if (!isKnownAgent(agent)) {
    const install = place === 'machine' ? 'Install it' : 'Install it in .mahabharatha/Dockerfile';
    return `${install}, or mend agents.${agent.name}.command in .mahabharatha/config.yaml.`;
  }
  const { title, package: name } = AGENT_FACTS[agent.kind];
  if (place === 'machine') return `Install ${title}: npm install -g ${name} — or choose another --agent.`;
  return `Name "${agent.kind}" under workers.container.agents in .mahabharatha/config.yaml, and run: mahabharatha build — or install it in .mahabharatha/Dockerfile.`;
}

function newerOf({ kind }: KnownAgentSpec, place: AgentPlace['kind']): string {
  const install = `npm install -g ${AGENT_FACTS[kind].package}@latest`;
  return place === 'machine'
    ? `Install a newer one: ${install}`
    : `Install a newer one in .mahabharatha/Dockerfile: ${install}`;
}

/** Claude Code refuses to work unattended as root, except in a sandbox. */
function rootProblem(agent: AgentSpec, place: AgentPlace, env: Environment): AgentProblem | null {
  if (place.kind === 'image' || agent.kind !== 'claude' || process.getuid?.() !== 0) return null;
  if (env['IS_SANDBOX'] === '1' || (env['CLAUDE_CODE_BUBBLEWRAP'] ?? '') !== '') return null;
  return {
    reason: 'Claude Code does not work unattended as root',
    remedy: 'Run as another user; or set IS_SANDBOX=1 on a machine that has nothing of value to you.',
  };
}
