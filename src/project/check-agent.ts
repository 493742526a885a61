import { findProgram } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import { agentTasks } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Mode } from './decide-mode.ts';
import { projectErrors } from './errors.ts';

/** Refuses an agent that cannot work, before the first attempt would fail for it. */
export async function checkAgent(agent: AgentSpec, graph: TaskGraph, mode: Mode, env: Environment): Promise<void> {
  const tasks = agentTasks(graph).length;
  const problem = tasks === 0 ? undefined : await agentProblem(agent, mode.name === 'container', env);
  if (problem !== undefined) throw projectErrors.AGENT_UNUSABLE({ agent: nameOf(agent), tasks, ...problem });
}

export async function agentProblem(
  agent: AgentSpec,
  /** In a container, whose programs are not looked for. */
  inside: boolean,
  env: Environment,
): Promise<{ reason: string; remedy: string } | undefined> {
  if (agent.kind === 'shell') {
    return {
      reason: 'it does only tasks with a "run" command',
      remedy: 'Give every task a "run" command, or choose another --agent.',
    };
  }
  if (inside) return undefined;
  const program = agent.kind === 'claude' ? agent.command : (agent.command[0] ?? '');
  if ((await findProgram(program, env)) === undefined) {
    const remedy =
      agent.kind === 'claude'
        ? 'Install Claude Code: npm install -g @anthropic-ai/claude-code — or choose another --agent.'
        : `Install "${program}", or mend agents.${agent.name}.command in .mahabharatha/config.yaml.`;
    return { reason: `"${program}" is not on the PATH`, remedy };
  }
  // Claude Code refuses to work unattended as root, except in a sandbox.
  const refusesRoot = agent.kind === 'claude' && process.getuid?.() === 0;
  if (refusesRoot && env['IS_SANDBOX'] !== '1' && (env['CLAUDE_CODE_BUBBLEWRAP'] ?? '') === '') {
    return {
      reason: 'Claude Code does not work unattended as root',
      remedy: 'Run as another user; or set IS_SANDBOX=1 on a machine that has nothing of value to you.',
    };
  }
  return undefined;
}

/** The name that the user gave the agent. */
export function nameOf(agent: AgentSpec): string {
  return agent.kind === 'command' ? agent.name : agent.kind;
}
