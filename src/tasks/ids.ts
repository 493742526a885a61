import { quote } from '../lib/text/shape.ts';
import type { Draft } from './draft.ts';
import { place } from './words.ts';

/** Ids must differ in more than case: they become names of refs and folders, also on file systems without case. */
export function checkIds(drafts: readonly Draft[]): string[] {
  const owners = new Map<string, number>();
  const problems: string[] = [];
  for (const [index, { id }] of drafts.entries()) {
    if (id === '') continue;
    const owner = owners.get(id.toLowerCase());
    if (owner === undefined) {
      owners.set(id.toLowerCase(), index);
      continue;
    }
    const other = drafts[owner]?.id ?? '';
    const what = other === id ? 'is the id of' : `differs only in case from ${quote(other)} of`;
    problems.push(
      `${place(['tasks', index, 'id'])}: ${quote(id)} ${what} tasks[${owner}]; give one of them another id`,
    );
  }
  return problems;
}
