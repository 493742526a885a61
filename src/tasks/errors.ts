import { defineErrors } from '../lib/app-error.ts';
import { bullets, counted } from '../lib/text/words.ts';

export const taskErrors = defineErrors({
  GRAPH_INVALID: {
    kind: 'usage',
    example: { file: 'task-graph.json', problems: ['tasks[0].id: missing'] },
    message: (f) => `${f.file} has ${counted(f.problems.length, 'problem')}:${bullets(f.problems)}`,
    hint: () => 'Correct the entries above; the format is described in schemas/task-graph.schema.json.',
  },
  GRAPH_MISSING: {
    kind: 'usage',
    example: { file: 'task-graph.json' },
    message: (f) => `There is no task graph at ${f.file}.`,
    hint: () => 'Write one there, or name another file with --task-graph PATH. mahabharatha init writes an example.',
  },
});
