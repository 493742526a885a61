import { defineErrors } from '../lib/app-error.ts';
import { bullets, counted, listed } from '../lib/text/words.ts';

export const taskErrors = defineErrors({
  GRAPH_AMBIGUOUS: {
    kind: 'usage',
    example: {
      files: ['/repo/.mahabharatha/specs/login/task-graph.json', '/repo/.mahabharatha/specs/login/task-graph.yaml'],
    },
    message: (f) => `There is more than one task graph: ${listed(f.files)}.`,
    hint: () => 'Remove all but the one that counts.',
  },
  GRAPH_INVALID: {
    kind: 'usage',
    example: { file: 'task-graph.json', problems: ['tasks[0].id: missing'] },
    message: (f) => `${f.file} has ${counted(f.problems.length, 'problem')}:${bullets(f.problems)}`,
    hint: () =>
      'Correct the entries above; the format is described in .mahabharatha/schemas/task-graph.schema.json, which mahabharatha init writes.',
  },
  GRAPH_NOT_MENDED: {
    kind: 'usage',
    example: { file: 'task-graph.json', problems: ['tasks[0].id: is missing; it must be text'] },
    message: (f) =>
      `${f.file} has ${counted(f.problems.length, 'problem')} that --fix cannot mend, and was not changed:${bullets(f.problems)}`,
    hint: () =>
      'Correct the entries above, then ask again: --fix mends levels, and files that tasks of one level share.',
  },
  GRAPH_MISSING: {
    kind: 'usage',
    example: { file: 'task-graph.json' },
    message: (f) => `There is no task graph at ${f.file}.`,
    hint: () => 'Write one there, or name another file with --task-graph PATH. mahabharatha init writes an example.',
  },
});
