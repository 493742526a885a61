import type { KnownAgentSpec, Prices } from '../protocol/index.ts';
import type { Agent, AgentCommand } from './agent.ts';
import { readClaude } from './claude-reader.ts';

/** Tools that wait for a person, leave the worktree, or postpone work until after the session. */
const NOT_HERE = [
  'AskUserQuestion',
  'EnterPlanMode',
  'ExitPlanMode',
  'EnterWorktree',
  'ExitWorktree',
  'CronCreate',
  'CronDelete',
  'CronList',
  'ScheduleWakeup',
];

const QUIET_ENV = {
  /** All workers of a run use the same version. */
  DISABLE_UPDATES: '1',
  /** No telemetry, no error reports, no model call to name the session. */
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
};

/** Claude Code, without a terminal: the prompt on stdin, events as JSON lines on stdout. */
export function claudeAgent(spec: KnownAgentSpec, prices: Prices): Agent {
  return {
    home: ['CLAUDE_CONFIG_DIR'],
    command: (prompt) => ({ file: spec.command, args: argsOf(spec), input: prompt, env: QUIET_ENV }),
    read: (limits) => readClaude(limits, prices),
  };
}

function argsOf(spec: KnownAgentSpec): AgentCommand['args'] {
  const model = spec.model === null ? [] : ['--model', spec.model];
  return [
    '--print',
    '--disallowedTools',
    NOT_HERE.join(','),
    // As root the CLI refuses this flag and exits with 1 before it reads the prompt, unless IS_SANDBOX is "1" or
    // CLAUDE_CODE_BUBBLEWRAP is set. The launcher decides whether this is a sandbox.
    '--dangerously-skip-permissions',
    '--verbose',
    '--output-format',
    'stream-json',
    // Without it the tokens of an answer are known at the very end of the session only.
    '--include-partial-messages',
    ...model,
    ...spec.args,
  ];
}
