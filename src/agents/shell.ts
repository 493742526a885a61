import { libErrors } from '../lib/index.ts';
import type { Agent } from './agent.ts';
import { readByExit } from './exit-reader.ts';

/** The task's own `run` command does the work; no prompt is needed. */
export function shellAgent(): Agent {
  return {
    home: [],
    command(_prompt, { run }) {
      if (run === null) {
        throw libErrors.USAGE({
          problem: 'The shell agent was given a task without a "run" command.',
          hint: 'Add "run" to the task in the task graph, or choose another agent.',
        });
      }
      return { file: 'bash', args: ['-c', run], input: '', env: {} };
    },
    read: (limits) => readByExit('the run command', limits),
  };
}
