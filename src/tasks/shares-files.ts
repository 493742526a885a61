import type { Task } from './graph.ts';
import { ownedFiles, patternsOf } from './owned-files.ts';
import { overlaps } from './pattern.ts';

/** Whether both tasks may write one file. */
export function sharesFiles(one: Pick<Task, 'files'>, other: Pick<Task, 'files'>): boolean {
  const others = ownedFiles(other.files).flatMap(patternsOf);
  return ownedFiles(one.files)
    .flatMap(patternsOf)
    .some((pattern) => others.some((each) => overlaps(pattern, each)));
}
