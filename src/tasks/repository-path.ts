import { expandBraces, MOST_ALTERNATIVES } from './braces.ts';
import { foldName, isWrittenByRuns, namesOf } from './own-folder.ts';
import { parsePattern } from './pattern.ts';
import type { Pattern } from './pattern.ts';

type PathReading =
  | { readonly ok: true; readonly patterns: readonly Pattern[] }
  | { readonly ok: false; readonly problem: string };

const LONGEST = 1024;

/** Reads a path or glob of a task. The words of a problem follow the quoted path. */
export function readPath(text: string): PathReading {
  if (text.length > LONGEST) return { ok: false, problem: `is longer than ${LONGEST} characters; shorten it` };
  const paths = expandBraces(text);
  if (paths === undefined) {
    return { ok: false, problem: `stands for more than ${MOST_ALTERNATIVES} paths; use "*" or fewer alternatives` };
  }
  for (const path of paths) {
    const problem = pathProblem(path);
    if (problem !== undefined) return { ok: false, problem };
  }
  return { ok: true, patterns: paths.map((path) => parsePattern(segmentsOf(path))) };
}

/** Why no task may have this path; undefined when one may. */
export function pathProblem(path: string): string | undefined {
  if (path === '') return 'is empty; name a file of the repository or remove the entry';
  if (path.includes('\0')) return 'holds a NUL character; remove it';
  if (path.includes('\\')) return 'holds a backslash; separate names by "/"';
  if (/^([A-Za-z]:)?\//.test(path)) return 'is absolute; name it from the root of the repository';
  const written = segmentsOf(path);
  if (written.length === 0) return 'names no file; write "**" for the whole repository';
  if (written.includes('..')) return 'holds ".."; name it from the root of the repository, without a way up';
  const names = written.map(foldName);
  if (names.includes('.git') || names.includes('git~1')) return "is part of git's own files; no task may name them";
  if (isWrittenByRuns(path)) return "is part of mahabharatha's own files; no task may name them";
  return undefined;
}

/** "x/" is everything below x. */
function segmentsOf(path: string): string[] {
  return path.endsWith('/') ? [...namesOf(path), '**'] : namesOf(path);
}
