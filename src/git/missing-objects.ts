import { hasCode } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/**
 * Ids of objects that are gone: of what a commit has beyond the base, and of its own files. Empty when all are there. What
 * a partial clone has never had is not gone.
 */
export async function missingObjects(git: GitCommand, commit: string, base: string): Promise<string[]> {
  const walks = [
    [commit, '--not', base],
    ['--no-walk', commit],
  ];
  const found = await Promise.all(walks.map((walk) => missingIn(git, walk)));
  return [...new Set(found.flat())];
}

async function missingIn(git: GitCommand, walk: readonly string[]): Promise<string[]> {
  const first = await walkObjects(git, ['--quiet', '--missing=allow-promisor', ...walk]);
  if (first.gone.length === 0) return [];
  // The walk ends at the first that is missing; this one tries to go on, which git cannot do without a commit.
  const { text } = await walkObjects(git, ['--missing=print', ...walk]);
  const all = linesOf(text).flatMap((line) => (line.startsWith('?') ? [line.slice(1)] : []));
  return all.length === 0 ? first.gone : all;
}

async function walkObjects(git: GitCommand, args: readonly string[]): Promise<{ text: string; gone: string[] }> {
  try {
    return { text: await git.text(['rev-list', '--objects', '--no-object-names', ...args]), gone: [] };
  } catch (error) {
    const gone = hasCode(error, gitErrors.GIT_FAILED) ? (error.facts.stderr.match(/\b[0-9a-f]{40,64}\b/g) ?? []) : [];
    if (gone.length === 0) throw error;
    return { text: '', gone };
  }
}
