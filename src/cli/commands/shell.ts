import type { CommandDefinition } from '../command.ts';
import { FEATURE_OPTION, TRUST_OPTION } from '../command.ts';

export const shell = {
  name: 'shell',
  argument: ['<target>', 'the number of a worker, or the id of a task'],
  rest: ['[command...]', 'after `--`: one program instead of a shell'],
  summary: "open a shell in a live attempt's container, or in a fresh one on the commit of a task's last attempt",
  options: { feature: FEATURE_OPTION, trustConfig: TRUST_OPTION },
  details: [
    'A task that is worked on now: the shell is in its container, beside its agent, as the same user, with the variables of\na task and without credentials; it ends with the agent. Any other task: a fresh container, made as for a task, which\ngoes when the shell ends; what is changed in it is lost.',
    'The exit status is that of the program. Without a terminal, a shell reads what to do from its input.',
  ],
  examples: [
    ['mahabharatha shell LOGIN-L1-001', 'look at what a task has left, and try it'],
    ['mahabharatha shell 2', 'what worker 2 works on now'],
    ['mahabharatha shell LOGIN-L1-001 -- npm test', 'one program; its exit status is the exit status'],
    ['mahabharatha shell LOGIN-L1-001 < try.sh', 'a script'],
  ],
} as const satisfies CommandDefinition;
