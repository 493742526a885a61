import { JSON_OPTION, TRUST_OPTION } from '../command.ts';
import type { CommandDefinition } from '../command.ts';

export const plan = {
  name: 'plan',
  argument: ['<feature>', 'its name'],
  summary: 'write the requirements of a feature, or refine them',
  options: {
    description: ['-d, --description <text>', 'what it is about, in your words'],
    from: ['--from <path>', 'a file with your words; - for stdin'],
    show: ['--show', 'how the requirements stand, and what is missing'],
    withoutAgent: ['--without-agent', 'a template with your words, for you to fill in'],
    replace: ['--replace', 'put new requirements in the place of those that are there, without a question'],
    agent: [
      '--agent <name>',
      'who fills them in: claude, codex, gemini, opencode, or one of the config (default: its agent)',
    ],
    mode: ['-m, --mode <mode>', 'where the agent works: container, subprocess or auto (default: workers.mode)'],
    trustConfig: TRUST_OPTION,
    json: JSON_OPTION,
  },
  details: [
    `They are in .mahabharatha/specs/<feature>/requirements.md. At a terminal, plan asks for your words when none are given.
An agent works on a checkout of its own, as the worker of a task does, and only its document comes back. Where there is no
agent you get a template. What is there is never replaced unasked: you see what would change first.`,
  ],
  examples: [
    ['mahabharatha plan login --description "People log in by mail"', 'the first draft'],
    ['mahabharatha plan login --from notes.md', 'from your notes'],
    ['mahabharatha plan login -d "Passwords have at least 12 characters"', 'refine it'],
    ['mahabharatha plan login --show', 'what is missing before it can be approved'],
    ['mahabharatha approve login', 'the next step'],
  ],
} as const satisfies CommandDefinition;
