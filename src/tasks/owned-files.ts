import type { Task } from './graph.ts';
import type { Pattern } from './pattern.ts';
import { readPath } from './repository-path.ts';

/** The lists of paths that belong to a task. */
export const OWNED = ['create', 'modify', 'delete'] as const;

type Files = Pick<Task['files'], (typeof OWNED)[number]>;

/** What a task may create, change and remove, as it stands in the file. */
export function ownedFiles(files: Files): string[] {
  return OWNED.flatMap((list) => files[list]);
}

/** An unreadable path means nothing. */
export function patternsOf(text: string): readonly Pattern[] {
  const reading = readPath(text);
  return reading.ok ? reading.patterns : [];
}

export function withoutDot(path: string): string {
  return path.replace(/^(\.\/)+/, '');
}
