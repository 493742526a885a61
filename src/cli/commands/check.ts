import { FEATURE_ARGUMENT, JSON_OPTION } from '../command.ts';
import type { CommandDefinition } from '../command.ts';

export const check = {
  name: 'check',
  argument: FEATURE_ARGUMENT,
  summary: 'check the task graph of a feature, and say how long it takes and what may go wrong',
  options: {
    feature: ['-f, --feature <name>', 'the feature (default: the one that a run would build)'],
    graphFile: ['-g, --task-graph <path>', 'another file than .mahabharatha/specs/<feature>/task-graph.json'],
    fix: ['--fix', 'write the levels that dependencies and shared files ask for into the file'],
    workers: ['-w, --workers <n>', 'how many workers the time line is for (default: workers.count of the config, 4)'],
    format: ['--format <form>', 'text (default), mermaid (a diagram), or json'],
    json: JSON_OPTION,
  },
  details: [
    `All problems of a graph are told at once, and the exit status is 2. A valid graph gets a time line, its longest chain of
dependencies, the number of workers beyond which nothing is won, and notes: tasks that are too large or have no
verification, verifications that cannot fail, files that keep tasks from running side by side, requirements that no task
covers. Nothing is started.`,
    `--fix changes nothing but levels, and keeps comments and order: a level that is not above those of the task's dependencies
is raised, and of tasks that share a file in one level, all but the first get another one. It says what it has written. When
more is wrong with the graph, it changes nothing, and tells that.`,
  ],
  examples: [
    ['mahabharatha check login', 'is the graph right, and how long will it take?'],
    ['mahabharatha check login --workers 8', 'would eight workers be faster?'],
    ['mahabharatha check login --fix', 'mend levels, and show what was changed'],
    ['mahabharatha check login --format mermaid > login.mmd', 'a diagram for a README'],
  ],
} as const satisfies CommandDefinition;
