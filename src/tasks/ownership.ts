import type { Task } from './graph.ts';
import { isInOwnFolder, literalPath } from './own-folder.ts';
import { ownedFiles, patternsOf, withoutDot } from './owned-files.ts';
import { matches, parsePattern } from './pattern.ts';
import type { Pattern } from './pattern.ts';
import { pathProblem } from './repository-path.ts';

/** Changed paths that the task did not declare in `create`, `modify` or `delete`. */
export function foreignPaths(task: Pick<Task, 'files'>, changed: readonly string[]): string[] {
  const texts = ownedFiles(task.files);
  const patterns = texts.flatMap(patternsOf).flatMap(withInside);
  // A path such as "pages/[id].tsx" is a glob, and also meant literally.
  const exact = new Set(texts.map(withoutDot));
  return changed.filter((path) => {
    if (pathProblem(path) !== undefined) return true;
    if (isInOwnFolder(path)) return !isNamed(texts, path);
    return !exact.has(path) && !patterns.some((pattern) => matches(pattern, path));
  });
}

/** Changed paths that steer later runs and that the task does not name in full: no setting allows them. */
export function steeringPaths(task: Pick<Task, 'files'>, changed: readonly string[]): string[] {
  return foreignPaths(task, changed.filter(isInOwnFolder));
}

/** A path may be that of a folder: then all that is in it is meant. */
const withInside = (pattern: Pattern): Pattern[] =>
  pattern.literal ? [pattern, parsePattern([...pattern.head, '**'])] : [pattern];

function isNamed(texts: readonly string[], path: string): boolean {
  return path.includes('/') && texts.some((text) => literalPath(text) === path);
}
