import { quote } from '../lib/text/shape.ts';
import { nameOf } from './draft.ts';
import type { Draft } from './draft.ts';
import type { Task } from './graph.ts';
import { isInOwnFolder, literalPath } from './own-folder.ts';
import { matches, overlaps } from './pattern.ts';
import type { Pattern } from './pattern.ts';
import { pathProblem, readPath } from './repository-path.ts';
import { MANY, place } from './words.ts';

/** A path or glob that a task may write. */
interface Claim {
  readonly task: number;
  readonly name: string;
  /** Where it is written. */
  readonly at: string;
  readonly text: string;
  readonly pattern: Pattern;
}

/** Claims by the names that their paths begin with: two claims can only clash when one lies on the way to the other. */
interface Folder {
  readonly claims: Claim[];
  readonly folders: Map<string, Folder>;
}

/** Changed paths that the task did not declare in `create` or `modify`. */
export function foreignPaths(task: Pick<Task, 'files'>, changed: readonly string[]): string[] {
  const texts = [...task.files.create, ...task.files.modify];
  const patterns = texts.flatMap(patternsOf);
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

function isNamed(texts: readonly string[], path: string): boolean {
  return path.includes('/') && texts.some((text) => literalPath(text) === path);
}

/** The tasks of a level must not be able to write the same file. */
export function checkOwnership(drafts: readonly Draft[], levels: readonly number[]): string[] {
  const byLevel = new Map<number, Claim[]>();
  for (const [task, draft] of drafts.entries()) {
    const level = levels[task] ?? 0;
    const claims = byLevel.get(level) ?? [];
    for (const claim of claimsOf(draft, task)) claims.push(claim);
    byLevel.set(level, claims);
  }
  const problems = new Map<string, string>();
  for (const [level, claims] of byLevel) checkLevel(level, claims, problems);
  const cut = problems.size < MANY ? [] : [`tasks: only the first ${MANY} clashes over files are shown`];
  return [...problems.values(), ...cut];
}

/** A path that a task names in both lists. */
export function doubleClaims(drafts: readonly Draft[]): string[] {
  return drafts.flatMap(({ files }, task) => {
    const created = new Set(files.create.map(withoutDot));
    return files.modify.flatMap((text, position) => {
      if (text === '' || !created.has(withoutDot(text))) return [];
      return [`${place(['tasks', task, 'files', 'modify', position])}: ${quote(text)} is in "create" as well`];
    });
  });
}

function claimsOf({ id, files }: Draft, task: number): Claim[] {
  const name = nameOf(id, task);
  const lists = [['create', files.create] as const, ['modify', files.modify] as const];
  return lists.flatMap(([list, texts]) =>
    texts.flatMap((text, position) => {
      const at = place(['tasks', task, 'files', list, position]);
      return patternsOf(text).map((pattern) => ({ task, name, at, text, pattern }));
    }),
  );
}

/** An unreadable path claims nothing. */
function patternsOf(text: string): readonly Pattern[] {
  const reading = readPath(text);
  return reading.ok ? reading.patterns : [];
}

function withoutDot(path: string): string {
  return path.replace(/^(\.\/)+/, '');
}

/** Goes from short paths to long ones, so that each claim is compared only with those on its way. */
function checkLevel(level: number, claims: readonly Claim[], problems: Map<string, string>): void {
  const root: Folder = { claims: [], folders: new Map() };
  for (const claim of claims.toSorted((a, b) => rank(a) - rank(b))) {
    let folder = root;
    report(level, folder.claims, claim, problems);
    for (const name of claim.pattern.head) {
      folder = enter(folder, name);
      report(level, folder.claims, claim, problems);
    }
    if (problems.size >= MANY) return;
    folder.claims.push(claim);
  }
}

/** A literal path comes before the globs that begin with it, since these may lie below it. */
function rank({ pattern }: Claim): number {
  return pattern.head.length * 2 + (pattern.literal ? 0 : 1);
}

function enter(folder: Folder, name: string): Folder {
  const found = folder.folders.get(name) ?? { claims: [], folders: new Map() };
  folder.folders.set(name, found);
  return found;
}

function report(level: number, earlier: readonly Claim[], claim: Claim, problems: Map<string, string>): void {
  for (const other of earlier) {
    if (problems.size >= MANY) return;
    if (other.task === claim.task) continue;
    const clash = clashOf(other, claim);
    if (clash === undefined) continue;
    const [first, second] = other.task < claim.task ? [other, claim] : [claim, other];
    const parties = `${quote(second.text)} of ${second.name} and ${quote(first.text)} of ${first.name} (${first.at})`;
    const advice = 'move one of the tasks to another level or give the file to one task';
    problems.set(`${first.at} ${second.at}`, `${second.at}: ${parties}, both in level ${level}, ${clash}; ${advice}`);
  }
}

/** The names that `above` begins with are the first names of `below`. */
function clashOf(above: Claim, below: Claim): string | undefined {
  if (overlaps(above.pattern, below.pattern)) return 'can mean the same file';
  if (above.pattern.literal) return `make ${quote(above.text)} both a file and a folder`;
  return undefined;
}
