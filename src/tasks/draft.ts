import { z } from 'zod';
import { levelNumber } from './schema.ts';
import { place, quote } from './words.ts';

/** "" stands for an entry that could not be read. What is wrong with it is reported by `readShape`. */
const texts = z.array(z.string().catch('')).catch([]);

const draft = z
  .object({
    id: z.string().catch(''),
    level: levelNumber.nullable().catch(null),
    dependencies: texts,
    files: z.object({ create: texts, modify: texts }).catch({ create: [], modify: [] }),
  })
  .catch({ id: '', level: null, dependencies: [], files: { create: [], modify: [] } });

const drafts = z.object({ tasks: z.array(draft).catch([]) }).catch({ tasks: [] });

/**
 * As much of a task as can be read, with its place in the file: so that one wrong field does not hide what is wrong
 * between tasks.
 */
export type Draft = z.infer<typeof draft>;

/** What to call a task in a message. */
export function nameOf(id: string, index: number): string {
  return id === '' ? place(['tasks', index]) : quote(id);
}

export function readDrafts(value: unknown): readonly Draft[] {
  return drafts.parse(value).tasks;
}
