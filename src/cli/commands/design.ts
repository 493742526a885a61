import { JSON_OPTION, TRUST_OPTION } from '../command.ts';
import type { CommandDefinition } from '../command.ts';

export const design = {
  name: 'design',
  argument: ['<feature>', 'its name'],
  summary: 'let an agent design a feature and cut it into tasks',
  options: {
    force: ['--force', 'also when the requirements are not approved, or were changed since'],
    replace: ['--replace', 'put a new design in the place of the one that is there, without a question'],
    agent: [
      '--agent <name>',
      'who designs: claude, codex, gemini, opencode, or one of the config (default: its agent)',
    ],
    mode: ['-m, --mode <mode>', 'where the agent works: container, subprocess or auto (default: workers.mode)'],
    trustConfig: TRUST_OPTION,
    json: JSON_OPTION,
  },
  details: [
    `Writes design.md and task-graph.json into .mahabharatha/specs/<feature>/. The graph is checked: its problems go back to the
agent, up to three rounds. A graph that is still invalid is kept beside as task-graph.invalid.json. Each requirement must be
covered by a task, or named in the design as not covered.`,
  ],
  examples: [
    ['mahabharatha design login', 'after: mahabharatha approve login'],
    ['mahabharatha check login', 'look at the graph'],
    ['mahabharatha kurukshetra --feature login', 'build it'],
  ],
} as const satisfies CommandDefinition;
