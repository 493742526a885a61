import type { KnownAgentSpec } from '../protocol/index.ts';
import type { Agent, AgentCommand } from './agent.ts';
import { readCodexLine } from './codex-events.ts';
import { readStream } from './stream-reader.ts';

/** No question about updates, and nothing to its maker but the requests for the model. */
const QUIET = ['check_for_update_on_startup=false', 'analytics.enabled=false'];

/** OpenAI's Codex, without a terminal: the prompt on stdin, events as JSON lines on stdout. */
export function codexAgent(spec: KnownAgentSpec): Agent {
  return {
    home: ['CODEX_HOME'],
    command: (prompt) => ({ file: spec.command, args: argsOf(spec), input: prompt, env: {} }),
    read: (limits) => readStream(limits, readCodexLine),
  };
}

function argsOf(spec: KnownAgentSpec): AgentCommand['args'] {
  const model = spec.model === null ? [] : ['--model', spec.model];
  return [
    'exec',
    '--json',
    '--skip-git-repo-check',
    '--dangerously-bypass-approvals-and-sandbox',
    ...QUIET.flatMap((setting) => ['-c', setting]),
    ...model,
    ...spec.args,
    // The prompt is on stdin.
    '-',
  ];
}
