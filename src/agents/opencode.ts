import type { KnownAgentSpec } from '../protocol/index.ts';
import type { Agent, AgentCommand } from './agent.ts';
import { readOpencodeLine, readOpencodeLog } from './opencode-events.ts';
import { readStream } from './stream-reader.ts';

const ENV = {
  OPENCODE_DISABLE_AUTOUPDATE: 'true',
  OPENCODE_DISABLE_MODELS_FETCH: 'true',
  OPENCODE_DISABLE_SHARE: 'true',
};

/** OpenCode, without a terminal: the prompt on stdin, events as JSON lines on stdout. */
export function opencodeAgent(spec: KnownAgentSpec): Agent {
  return {
    home: ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME'],
    command: (prompt) => ({ file: spec.command, args: argsOf(spec), input: prompt, env: ENV }),
    read: (limits) => readStream(limits, readOpencodeLine, readOpencodeLog),
  };
}

function argsOf(spec: KnownAgentSpec): AgentCommand['args'] {
  const model = spec.model === null ? [] : ['--model', spec.model];
  // With a title of ours the model is not asked for one. Requests that are sent again show only in the log, which goes to stderr.
  const quiet = ['--title', 'task', '--print-logs', '--log-level', 'ERROR'];
  return ['run', '--format', 'json', '--auto', ...quiet, ...model, ...spec.args];
}
