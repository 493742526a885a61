import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../lib/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import { projectErrors } from './errors.ts';

/** Better to say before the start that no agent can work than after the first attempt. */
export async function checkAgent(agent: AgentSpec, graph: TaskGraph, env: Environment): Promise<void> {
  const problem = await agentProblem(agent, env);
  if (problem === undefined) return;
  const tasks = graph.tasks.filter((task) => task.run === null).length;
  throw projectErrors.AGENT_UNUSABLE({ agent: nameOf(agent), tasks, ...problem });
}

export async function agentProblem(
  agent: AgentSpec,
  env: Environment,
): Promise<{ reason: string; remedy: string } | undefined> {
  if (agent.kind === 'shell') {
    return {
      reason: 'it does only tasks with a "run" command',
      remedy: 'Give every task a "run" command, or choose another --agent.',
    };
  }
  const program = agent.kind === 'claude' ? agent.command : (agent.command[0] ?? '');
  if ((await findProgram(program, env)) === undefined) {
    const remedy =
      agent.kind === 'claude'
        ? 'Install Claude Code: npm install -g @anthropic-ai/claude-code — or choose another --agent.'
        : `Install "${program}", or mend agents.${agent.name}.command in .mahabharatha/config.yaml.`;
    return { reason: `"${program}" is not on the PATH`, remedy };
  }
  // Claude Code refuses to work unattended as root, unless it is told that the machine is a sandbox.
  const refusesRoot = agent.kind === 'claude' && process.getuid?.() === 0;
  if (refusesRoot && env['IS_SANDBOX'] !== '1' && (env['CLAUDE_CODE_BUBBLEWRAP'] ?? '') === '') {
    return {
      reason: 'Claude Code does not work unattended as root',
      remedy: 'Run as another user; or set IS_SANDBOX=1 if nothing on this machine is dear to you.',
    };
  }
  return undefined;
}

export async function findProgram(program: string, env: Environment): Promise<string | undefined> {
  const folders = program.includes('/') ? [''] : (env['PATH'] ?? '').split(path.delimiter);
  for (const folder of folders) {
    const file = path.join(folder, program);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return file;
  }
  return undefined;
}

function nameOf(agent: AgentSpec): string {
  return agent.kind === 'command' ? agent.name : agent.kind;
}
