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

/** The differences of many pairs of commits, in one git process. */
export async function readChanges(git: GitCommand, pairs: readonly Pair[]): Promise<Changes[]> {
  if (pairs.length === 0) return [];
  // Of two commits in a line, git compares the first with the second, as if that were its parent.
  const input = pairs.map(({ from, to }) => `${to} ${from}\n`).join('');
  const fields = (await git.text(['diff-tree', '--stdin', ...RAW_CHANGES], { input })).split('\0').slice(0, -1);
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
