import { quote } from '../lib/text/shape.ts';
import { z } from 'zod';
import { levelNumber } from './schema.ts';
import { place } from './words.ts';

/** "" stands for an unreadable entry, which `readShape` reports. */
const texts = z.array(z.string().catch('')).catch([]);

const NO_FILES = { create: [], modify: [], delete: [], read: [] };

const draft = z
  .object({
    id: z.string().catch(''),
    level: levelNumber.nullable().catch(null),
    dependencies: texts,
    files: z.object({ create: texts, modify: texts, delete: texts, read: texts }).catch(NO_FILES),
  })
  .catch({ id: '', level: null, dependencies: [], files: NO_FILES });

const drafts = z.object({ tasks: z.array(draft).catch([]) }).catch({ tasks: [] });

/** As much of a task as is readable: one wrong field does not hide the problems between tasks. */
export type Draft = z.infer<typeof draft>;

/** What to call a task in a message. */
export function nameOf(id: string, index: number): string {
  return id === '' ? place(['tasks', index]) : quote(id);
}

export function readDrafts(value: unknown): readonly Draft[] {
  return drafts.parse(value).tasks;
}
