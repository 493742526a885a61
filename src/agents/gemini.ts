import type { KnownAgentSpec } from '../protocol/index.ts';
import type { Agent, AgentCommand } from './agent.ts';
import { readGeminiComplaint, readGeminiLine } from './gemini-events.ts';
import { readStream } from './stream-reader.ts';

const ENV = {
  /** Else it asks before it works in a folder that it has not seen, and ends where there is no terminal. */
  GEMINI_CLI_TRUST_WORKSPACE: 'true',
  GEMINI_TELEMETRY_ENABLED: 'false',
};

/** Google's Gemini CLI, without a terminal: the prompt on stdin, events as JSON lines on stdout. */
export function geminiAgent(spec: KnownAgentSpec): Agent {
  return {
    home: ['GEMINI_CLI_HOME'],
    command: (prompt) => ({ file: spec.command, args: argsOf(spec), input: prompt, env: ENV }),
    read: (limits) => readStream(limits, readGeminiLine, readGeminiComplaint),
  };
}

function argsOf(spec: KnownAgentSpec): AgentCommand['args'] {
  const model = spec.model === null ? [] : ['--model', spec.model];
  return ['--output-format', 'stream-json', '--approval-mode', 'yolo', ...model, ...spec.args];
}
