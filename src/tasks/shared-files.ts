import { quote } from '../lib/text/shape.ts';
import { claimsOf, clashesAmong, pairBudget } from './clashes.ts';
import type { Claim, Clash, PairBudget } from './clashes.ts';
import type { Need } from './dependencies.ts';
import type { Draft } from './draft.ts';
import { orderLevels } from './order-levels.ts';
import type { Push } from './order-levels.ts';
import { MANY } from './words.ts';

/** What the configuration says of changes to files that a task does not own. */
export type Ownership = 'enforce' | 'warn' | 'off';

/** With more clashes in a graph no order is searched for. */
const MOST_CLASHES = 20_000;

const TOO_MANY = 'tasks: too many globs could mean the same files to compare all of them; name folders in their place';

interface Given {
  readonly drafts: readonly Draft[];
  /** By index of the task. */
  readonly levels: readonly number[];
  readonly needs: readonly (readonly Need[])[];
}

export interface SharedFiles {
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  /** The levels in which no two tasks share a file; undefined when none were searched for. */
  readonly order: { readonly levels: readonly number[]; readonly pushed: ReadonlyMap<number, Push> } | undefined;
}

/** The tasks of a level must not be able to write the same file, unless ownership is not enforced. */
export function sharedFiles({ drafts, levels, needs }: Given, ownership: Ownership): SharedFiles {
  const claims = claimsOf(drafts);
  const budget = pairBudget();
  const clashes = clashesInLevels(claims, levels, budget);
  const unchanged = { levels, pushed: new Map<number, Push>() };
  if (budget.left < 0)
    return ownership === 'enforce'
      ? { problems: [TOO_MANY], warnings: [], order: undefined }
      : { problems: [], warnings: [TOO_MANY], order: unchanged };
  if (clashes.length === 0) return { problems: [], warnings: [], order: unchanged };
  const cut = clashes.length < MANY ? [] : [`tasks: only the first ${MANY} clashes over files are shown`];
  if (ownership !== 'enforce') {
    const noted = clashes.map(
      (clash) => `${inWords(levels)(clash)}: the second of them to be merged may be done again`,
    );
    return { problems: [], warnings: [...noted, ...cut], order: unchanged };
  }
  const order = searchOrder(claims, levels, needs);
  const told = clashes.map((clash) => `${inWords(levels)(clash)}; ${adviceOn(clash, order?.levels)}`);
  return {
    problems: [...told, ...(order === undefined ? [] : laterClashes(clashes, order)), ...cut],
    warnings: [],
    order,
  };
}

function clashesInLevels(claims: readonly Claim[], levels: readonly number[], budget: PairBudget): Clash[] {
  const byLevel = new Map<number, Claim[]>();
  for (const claim of claims) add(byLevel, levels[claim.task] ?? 0, claim);
  const found: Clash[] = [];
  for (const members of byLevel.values()) {
    if (found.length >= MANY || budget.left < 0) break;
    found.push(...clashesAmong(members, MANY - found.length, budget));
  }
  return found;
}

interface FoundOrder {
  readonly levels: readonly number[];
  readonly pushed: ReadonlyMap<number, Push>;
  /** A clash of two tasks, whichever of them is named first. */
  clashOf(one: number, other: number): Clash | undefined;
}

function searchOrder(
  claims: readonly Claim[],
  levels: readonly number[],
  needs: readonly (readonly Need[])[],
): FoundOrder | undefined {
  const budget = pairBudget();
  const clashes = clashesAmong(claims, MOST_CLASHES, budget);
  if (clashes.length === MOST_CLASHES || budget.left < 0) return undefined;
  const pairs = new Map<string, Clash>();
  const rivals = new Map<number, number[]>();
  for (const clash of clashes) {
    const [one, other] = [clash.first.task, clash.second.task];
    if (pairs.has(`${one} ${other}`)) continue;
    pairs.set(`${one} ${other}`, clash);
    add(rivals, one, other);
    add(rivals, other, one);
  }
  const clashOf = (one: number, other: number): Clash | undefined =>
    pairs.get(one < other ? `${one} ${other}` : `${other} ${one}`);
  return { ...orderLevels(levels, needs, rivals), clashOf };
}

function add<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

const inWords =
  (levels: readonly number[]) =>
  ({ first, second }: Clash): string =>
    `${partiesOf({ first, second })}, both in level ${levels[first.task] ?? 0}, can mean the same file`;

function partiesOf({ first, second }: Clash): string {
  return `${second.at}: ${quote(second.text)} of ${second.name} and ${quote(first.text)} of ${first.name} (${first.at})`;
}

function adviceOn(clash: Clash, levels: readonly number[] | undefined): string {
  if (levels === undefined) return 'move one of the tasks to another level or give the file to one task';
  const { name, level } = moverOf(clash, levels);
  return `give ${name} level ${level} (check --fix writes it), or the file to one task alone`;
}

/** That one of two tasks which runs later in the end. */
function moverOf({ first, second }: Clash, levels: readonly number[]): { task: number; name: string; level: number } {
  const [one, other] = [levels[first.task] ?? 0, levels[second.task] ?? 0];
  const { task, name } = one > other ? first : second;
  return { task, name, level: Math.max(one, other) };
}

/** Of tasks that share a level with a rival only after others have moved: so that following all advice once is enough. */
function laterClashes(known: readonly Clash[], { levels, pushed, clashOf }: FoundOrder): string[] {
  const told = new Set(known.map((clash) => moverOf(clash, levels).task));
  return [...pushed]
    .filter(([task]) => !told.has(task))
    .flatMap(([task, { rival, level }]) => {
      const clash = clashOf(task, rival);
      if (clash === undefined) return [];
      const then = `would both be in level ${level} when the others have moved, and can mean the same file`;
      return [`${partiesOf(clash)} ${then}; ${adviceOn(clash, levels)}`];
    })
    .slice(0, MANY);
}
