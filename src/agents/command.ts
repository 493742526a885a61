import type { AgentSpec } from '../protocol/index.ts';
import type { Agent, AgentCommand } from './agent.ts';
import { readByExit } from './exit-reader.ts';

type CommandSpec = Extract<AgentSpec, { kind: 'command' }>;

/** Any other command line program, as the configuration describes it. */
export function commandAgent(spec: CommandSpec): Agent {
  return {
    home: [],
    command: (prompt, { promptFile }) => commandOf(spec, prompt, promptFile),
    read: (limits) => readByExit(spec.name, limits),
  };
}

function commandOf(spec: CommandSpec, prompt: string, promptFile: string): AgentCommand {
  const [file = '', ...args] = argv(spec, prompt, promptFile);
  return { file, args, input: spec.prompt === 'stdin' ? prompt : '', env: {} };
}

function argv(spec: CommandSpec, prompt: string, promptFile: string): readonly string[] {
  if (spec.prompt === 'argument') return fill(spec.command, '{prompt}', prompt);
  if (spec.prompt === 'file') return fill(spec.command, '{prompt_file}', promptFile);
  return spec.command;
}

/** Replaces the placeholder with the value; without a placeholder the value is the last argument. */
function fill(command: readonly string[], placeholder: string, value: string): readonly string[] {
  if (!command.some((word) => word.includes(placeholder))) return [...command, value];
  return command.map((word) => word.replaceAll(placeholder, () => value));
}
