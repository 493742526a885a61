import { z } from 'zod';
import { describe, quote } from '../lib/text/shape.ts';
import { clip, inOneLine } from '../lib/text/words.ts';
import { readPath } from './repository-path.ts';

const ID = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
/** git refuses branch names with "..", and with "." or ".lock" at the end. */
const FEATURE = /^(?!.*\.\.)(?!.*\.$)(?!.*\.lock$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** A timer of more than 24 days fires at once. */
const WEEK_SECONDS = 604_800;
const HIGHEST_LEVEL = 1_000_000;
export const DEFAULT_TIMEOUT_SECONDS = 120;

const words = z.string().nullish();
const command = z.string().regex(/\S/, { error: 'is empty; write a shell command or remove the key' });

const idText = z.string().regex(ID, {
  error: ({ input }) =>
    `${quote(String(input))} is not a task id; use letters, digits, "_" and "-", a letter first, 64 at most`,
});

const featureText = z.string().regex(FEATURE, {
  error: ({ input }) =>
    `${quote(String(input))} is not a feature name; use letters, digits, ".", "_" and "-", a letter or digit first, ` +
    '64 at most, no "..", no "." or ".lock" at the end',
});

const version = z
  .union([z.string(), z.number()], { error: ({ input }) => `expected "1.0" or "2.0", got ${describe(input)}` })
  .check(({ value, issues }) => {
    const major = /^v?(\d+)(\.|$)/.exec(String(value))?.[1];
    if (major === undefined) {
      issues.push({ code: 'custom', input: value, message: `${quote(String(value))} is not a version; write "2.0"` });
    } else if (!/^0*[12]$/.test(major)) {
      const age = /^0+$/.test(major) ? 'older' : 'newer';
      const message = `version ${clip(inOneLine(String(value)), 20)} is ${age} than this program knows; it reads versions 1 and 2`;
      issues.push({ code: 'custom', input: value, message });
    }
  });

const repositoryPath = z.string().check(({ value, issues }) => {
  const reading = readPath(value);
  if (!reading.ok) issues.push({ code: 'custom', input: value, message: `${quote(value)} ${reading.problem}` });
});

function pathList(description: string) {
  return z.array(repositoryPath).nullish().meta({ description });
}

/** Keys that other programs write; they have no effect. */
function unread() {
  return z.unknown().optional().meta({ description: 'Not read.' });
}

const files = z
  .object({
    create: pathList('Files that the task makes.'),
    modify: pathList('Files that the task changes.'),
    read: pathList('Files worth reading first.'),
  })
  .meta({
    description:
      'Paths and globs (* ? ** {a,b} [abc]; "x/" is everything below x). ' +
      'What a task may write belongs to it alone within its level.',
  });

const verification = z
  .object({
    command: command.meta({ description: 'A shell command that must succeed before the work counts.' }),
    timeout_seconds: z
      .number()
      .positive({ error: 'must be more than 0' })
      .max(WEEK_SECONDS, { error: `must be ${WEEK_SECONDS} (a week) or less` })
      .nullish()
      .meta({ description: `Default: ${DEFAULT_TIMEOUT_SECONDS}.` }),
  })
  .meta({ description: 'How to see that the task is done.' });

export const levelNumber = z
  .int({ error: ({ input }) => `expected a whole number, got ${describe(input)}` })
  .min(1, { error: 'must be 1 or more' })
  .max(HIGHEST_LEVEL, { error: `must be ${HIGHEST_LEVEL} or less` });

const task = z.object({
  id: idText.meta({ description: 'Unique in the graph, whether or not case counts.' }),
  title: words.meta({ description: 'Default: the id.' }),
  description: words.meta({ description: 'What to do, in the words that the agent gets.' }),
  level: levelNumber
    .nullish()
    .meta({ description: 'Tasks of one level run together. Default: one above the highest dependency.' }),
  dependencies: z
    .array(z.string().min(1, { error: 'is empty; name a task or remove the entry' }))
    .nullish()
    .meta({ description: 'Ids of tasks, in lower levels, that must be done first.' }),
  files: files.nullish(),
  acceptance_criteria: z.array(z.string()).nullish().meta({ description: 'What must be true in the end.' }),
  context: words.meta({ description: 'More text for the agent.' }),
  verification: verification.nullish(),
  run: command.nullish().meta({ description: 'A shell command that does the task: then no agent is asked.' }),
  estimate_minutes: z
    .number()
    .nonnegative({ error: 'must be 0 or more' })
    .nullish()
    .meta({ description: 'Longer tasks are started first.' }),
  phase: unread(),
  critical_path: unread(),
  consumers: unread(),
  integration_test: unread(),
  skills_required: unread(),
  steps: unread(),
  status: unread(),
});

export const graphFile = z
  .object({
    $schema: unread(),
    feature: featureText.meta({ description: 'What is being built. Becomes part of branch and folder names.' }),
    version: version.nullish().meta({ description: 'Version of this format: 1.x or 2.x.' }),
    tasks: z.array(task).min(1, { error: 'is empty; a graph has at least one task' }),
    generated: unread(),
    total_tasks: unread(),
    estimated_duration_minutes: unread(),
    max_parallelization: unread(),
    critical_path: unread(),
    critical_path_minutes: unread(),
    levels: unread(),
    conflict_matrix: unread(),
  })
  .meta({
    title: 'Task graph',
    description: 'The tasks of one feature: .mahabharatha/specs/<feature>/task-graph.json',
  });

export type GraphFile = z.infer<typeof graphFile>;
export type TaskFile = GraphFile['tasks'][number];

/** The known keys at each place of the file. */
export const KNOWN_KEYS = {
  graph: new Set(Object.keys(graphFile.shape)),
  task: new Set(Object.keys(task.shape)),
  files: new Set(Object.keys(files.shape)),
  verification: new Set(Object.keys(verification.shape)),
};

/** The file format for editors, without what concerns several places of the file: cycles, ownership.
 * @public used by scripts/generate.js */
export function taskGraphJsonSchema(): unknown {
  return z.toJSONSchema(graphFile, { io: 'input' });
}
