import { z } from 'zod';
import { describe, quote } from '../lib/text/shape.ts';
import { clip, inOneLine } from '../lib/text/words.ts';
import { LONGEST_ID, proposedId } from './proposed-id.ts';
import { readPath } from './repository-path.ts';

/**
 * Part of refs: git refuses "..", and "." or ".lock" at the end. Digits alone are the number of a worker on command lines,
 * and "@" begins names of our own.
 */
const ID = /^(?!\d+$)(?!.*\.\.)(?!.*\.$)(?!.*\.lock$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** git refuses branch names with "..", and with "." or ".lock" at the end. */
const FEATURE = /^(?!.*\.\.)(?!.*\.$)(?!.*\.lock$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** A timer of more than 24 days fires at once. */
const WEEK_SECONDS = 604_800;
const HIGHEST_LEVEL = 1_000_000;
const MOST_ATTEMPTS = 20;
export const DEFAULT_TIMEOUT_SECONDS = 120;

const words = z.string().nullish();
const command = z.string().regex(/\S/, { error: 'is empty; write a shell command or remove the key' });

const idText = textOrNumber().regex(ID, {
  error: ({ input }) => {
    const id = String(input);
    const rule = `ids have letters, digits, ".", "_" and "-", ${LONGEST_ID} at most, and not digits alone`;
    return id === '' ? `is empty; ${rule}` : `${quote(id)} is not a task id; write ${quote(proposedId(id))}: ${rule}`;
  },
});

/** Other tools count their tasks, and YAML reads 1.10 as 1.1: only the person knows what is meant. */
function textOrNumber() {
  return z.string({
    error: ({ input }) =>
      typeof input === 'number'
        ? `expected text, got the number ${input}; write ${quote(proposedId(String(input)))}, in quotes`
        : undefined,
  });
}

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

const UNREAD = 'Not read.';

/** Keys that other programs write; they have no effect. */
function unread() {
  return z.unknown().optional().meta({ description: UNREAD });
}

const files = z
  .object(
    {
      create: pathList('Files that the task makes.'),
      modify: pathList('Files that the task changes.'),
      delete: pathList('Files that the task removes.'),
      read: z.array(z.string()).nullish().meta({ description: 'Files worth reading first.' }),
    },
    { error: ({ input }) => (Array.isArray(input) ? `${instead(input)}; write { "modify": […] }` : undefined) },
  )
  .meta({
    description:
      'Paths and globs (* ? ** {a,b} [abc]; a folder, "x" or "x/", is everything in it). ' +
      'What a task creates, modifies or deletes belongs to it alone within its level.',
  });

const verification = z
  .object(
    {
      command: command.meta({ description: 'A shell command that must succeed before the work counts.' }),
      timeout_seconds: z
        .number()
        .positive({ error: 'must be more than 0' })
        .max(WEEK_SECONDS, { error: `must be ${WEEK_SECONDS} (a week) or less` })
        .nullish()
        .meta({ description: `Default: ${DEFAULT_TIMEOUT_SECONDS}.` }),
    },
    { error: ({ input }) => (typeof input === 'string' ? `${instead(input)}; write { "command": "…" }` : undefined) },
  )
  .meta({ description: 'How to see that the task is done.' });

function instead(input: unknown): string {
  return `expected an object, got ${describe(input)}`;
}

export const levelNumber = z
  .int({ error: ({ input }) => `expected a whole number, got ${describe(input)}` })
  .min(0, { error: 'must be 0 or more' })
  .max(HIGHEST_LEVEL, { error: `must be ${HIGHEST_LEVEL} or less` });

const taskKeys = z.object({
  id: idText.meta({ description: 'Unique in the graph, whether or not case counts.' }),
  title: words.meta({ description: 'Default: the id.' }),
  description: words.meta({ description: 'What to do, in the words that the agent gets.' }),
  level: levelNumber
    .nullish()
    .meta({ description: 'Tasks of one level run together. Default: one above the highest dependency.' }),
  dependencies: z
    .array(textOrNumber().min(1, { error: 'is empty; name a task or remove the entry' }))
    .nullish()
    .meta({ description: 'Ids of tasks that must be done first: this task runs in a level above theirs.' }),
  files: files.nullish(),
  acceptance_criteria: z.array(z.string()).nullish().meta({ description: 'What must be true in the end.' }),
  context: words.meta({ description: 'More text for the agent.' }),
  verification: verification.nullish(),
  run: command.nullish().meta({ description: 'A shell command that does the task: then no agent is asked.' }),
  attempts: z
    .int({ error: ({ input }) => `expected a whole number, got ${describe(input)}` })
    .min(1, { error: 'must be 1 or more' })
    .max(MOST_ATTEMPTS, { error: `must be ${MOST_ATTEMPTS} or less` })
    .nullish()
    .meta({ description: 'How often the task may fail before it is given up. Default: retry.attempts.' }),
  satisfied: z.boolean().nullish().meta({
    description: 'The work may be there already: a task that changes nothing then passes when its verification does.',
  }),
  agent: z.string().min(1, { error: 'is empty; name an agent or remove the key' }).nullish().meta({
    description:
      'Who does the task: "claude", "codex", "gemini", "opencode", or a name under "agents" in the configuration. Default: the agent of the run.',
  }),
  model: z
    .string()
    .min(1, { error: 'is empty; name a model or remove the key' })
    .nullish()
    .meta({ description: 'The model that this agent is to use. Default: the one in the configuration.' }),
  estimate_minutes: z
    .number()
    .nonnegative({ error: 'must be 0 or more' })
    .nullish()
    .meta({ description: 'Longer tasks are started first.' }),
  requirements: z.unknown().optional().meta({ description: 'Ids of the requirements that the task covers.' }),
  phase: unread(),
  critical_path: unread(),
  consumers: unread(),
  integration_test: unread(),
  skills_required: unread(),
  steps: unread(),
  status: unread(),
});

const task = taskKeys.check(({ value, issues }) => {
  if (value.satisfied !== true || (value.verification ?? undefined) !== undefined) return;
  const message = 'needs a "verification": it alone decides whether the work is there';
  issues.push({ code: 'custom', path: ['satisfied'], input: value.satisfied, message });
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
    description: 'The tasks of one feature: .mahabharatha/specs/<feature>/task-graph.json, or .yaml',
  });

export type GraphFile = z.infer<typeof graphFile>;
export type TaskFile = GraphFile['tasks'][number];

/** The known keys at each place of the file. */
export const KNOWN_KEYS = {
  graph: keysOf(graphFile),
  task: keysOf(taskKeys),
  files: keysOf(files),
  verification: keysOf(verification),
};

export interface KnownKeys {
  readonly all: ReadonlySet<string>;
  /** Those that have an effect. */
  readonly read: ReadonlySet<string>;
}

function keysOf({ shape }: { readonly shape: Readonly<Record<string, z.ZodType>> }): KnownKeys {
  const keys = Object.entries(shape);
  return {
    all: new Set(keys.map(([key]) => key)),
    read: new Set(keys.filter(([, type]) => type.meta()?.description !== UNREAD).map(([key]) => key)),
  };
}

/** The file format for editors, without what concerns several places of the file: cycles, ownership.
 * @public used by scripts/generate.js */
export function taskGraphJsonSchema(): unknown {
  return z.toJSONSchema(graphFile, { io: 'input' });
}
