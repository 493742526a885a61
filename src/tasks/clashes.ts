import { nameOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { OWNED, patternsOf } from './owned-files.ts';
import { overlaps } from './pattern.ts';
import type { Pattern } from './pattern.ts';
import { place } from './words.ts';

/** A path or glob that a task owns. */
export interface Claim {
  readonly task: number;
  readonly name: string;
  /** Where it is written. */
  readonly at: string;
  readonly text: string;
  readonly pattern: Pattern;
}

/** Two claims of different tasks that can mean the same file, in the order of the tasks. */
export interface Clash {
  readonly first: Claim;
  readonly second: Claim;
}

/** Claims by the names that their paths begin with: two claims can only clash when one lies on the way to the other. */
interface Folder {
  readonly claims: Claim[];
  readonly folders: Map<string, Folder>;
}

/** How many pairs of claims may still be compared: in a hostile graph, comparing all pairs could take hours. */
export interface PairBudget {
  left: number;
}

export const pairBudget = (): PairBudget => ({ left: 20_000_000 });

export function claimsOf(drafts: readonly Draft[]): Claim[] {
  return drafts.flatMap(({ id, files }, task) =>
    OWNED.flatMap((list) =>
      files[list].flatMap((text, position) => {
        const at = place(['tasks', task, 'files', list, position]);
        return patternsOf(text).map((pattern) => ({ task, name: nameOf(id, task), at, text, pattern }));
      }),
    ),
  );
}

/**
 * Goes from short paths to long ones, so that each claim is compared only with those on its way. Stops after `most`, and when
 * the budget is exceeded: then `left` is negative.
 */
export function clashesAmong(claims: readonly Claim[], most: number, budget: PairBudget): Clash[] {
  const found = new Map<string, Clash>();
  const root: Folder = { claims: [], folders: new Map() };
  for (const claim of claims.toSorted((one, other) => rank(one) - rank(other))) {
    let folder = root;
    const compareWith = (earlier: readonly Claim[]): void => {
      budget.left -= earlier.length;
      if (budget.left >= 0) compare(earlier, claim, found, most);
    };
    compareWith(folder.claims);
    for (const name of claim.pattern.head) {
      folder = enter(folder, name);
      compareWith(folder.claims);
    }
    if (found.size >= most || budget.left < 0) break;
    folder.claims.push(claim);
  }
  return [...found.values()];
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

function compare(earlier: readonly Claim[], claim: Claim, found: Map<string, Clash>, most: number): void {
  for (const other of earlier) {
    if (found.size >= most) return;
    // A path that another one begins with is that of a folder, or both cannot be.
    if (other.task === claim.task || !(other.pattern.literal || overlaps(other.pattern, claim.pattern))) continue;
    const [first, second] = other.task < claim.task ? [other, claim] : [claim, other];
    found.set(`${first.at} ${second.at}`, { first, second });
  }
}
