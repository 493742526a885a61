import { saidTooMuch } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { RAW_CHANGES, rawChanges } from './raw-changes.ts';
import type { Side } from './raw-changes.ts';

/** What is at a path before and after, as one text of mode and object id; empty where there is nothing. */
interface Change {
  readonly before: string;
  readonly after: string;
}

/** By path; a rename is one path that is removed and one that is added. */
export type Changes = ReadonlyMap<string, Change>;

export interface Pair {
  readonly from: string;
  readonly to: string;
}

/** For more pairs than the two of one merge: their changes are in memory together. */
const MOST_TOGETHER = 32 * 1024 ** 2;

/** The differences of many pairs of commits, in one git process unless it prints too much. */
export function readChanges(git: GitCommand, pairs: readonly Pair[]): Promise<Changes[]> {
  return inHalves(pairs, (some) => readTogether(git, some));
}

/** Does the work for all items together or, where git prints too much for that, for each half of them. */
export async function inHalves<Item, Result>(
  items: readonly Item[],
  work: (items: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Result[]> {
  try {
    return [...(await work(items))];
  } catch (error) {
    if (items.length < 2 || !saidTooMuch(error)) throw error;
    const half = Math.ceil(items.length / 2);
    return [...(await inHalves(items.slice(0, half), work)), ...(await inHalves(items.slice(half), work))];
  }
}

export async function readTogether(git: GitCommand, pairs: readonly Pair[]): Promise<Changes[]> {
  if (pairs.length === 0) return [];
  // Of two commits in a line, git compares the first with the second, as if that were its parent.
  const input = pairs.map(({ from, to }) => `${to} ${from}\n`).join('');
  const options = { input, ...(pairs.length > 2 ? { mostOutput: MOST_TOGETHER } : {}) };
  const fields = (await git.text(['diff-tree', '--stdin', ...RAW_CHANGES], options)).split('\0').slice(0, -1);
  return groupsOf(fields, pairs).map((group) => {
    const entries = rawChanges(group).map(({ path, before, after }): [string, Change] => [
      path,
      { before: textOf(before), after: textOf(after) },
    ]);
    return new Map(entries);
  });
}

/** Git prints the commit before its changes, and nothing for a pair without changes. */
function groupsOf(fields: readonly string[], pairs: readonly Pair[]): string[][] {
  const groups = pairs.map((): string[] => []);
  let pair = -1;
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? '';
    if (field.startsWith(':')) groups[pair]?.push(field, fields[++at] ?? '');
    else while (++pair < pairs.length && pairs[pair]?.to !== field);
  }
  return groups;
}

const textOf = (side: Side | null): string => (side === null ? '' : `${side.mode} ${side.id}`);
