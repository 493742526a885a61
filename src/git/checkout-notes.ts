import { counted } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';
import type { Repository } from './repository.ts';

/** What a checkout in a container lacks at this commit, because the user's filter programs and remotes are missing: a text for each. */
export async function checkoutNotes({ git }: Repository, base: string): Promise<string[]> {
  const [filters, missing] = await Promise.all([filterNotes(git, base), missingNote(git, base)]);
  return [...filters, ...missing];
}

/** Files that git stores in another form than the user sees: a filter program converts them. */
async function filterNotes(git: GitCommand, base: string): Promise<string[]> {
  const files = await git.text(['ls-tree', '-r', '-z', '--name-only', '--full-tree', base]);
  const attributes = await git.text(['check-attr', '-z', '--stdin', 'filter'], { input: files });
  const counts = new Map<string, number>();
  const fields = attributes.split('\0');
  for (let at = 2; at < fields.length; at += 3) {
    const name = fields[at] ?? '';
    if (!['unspecified', 'unset', 'set'].includes(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const known = await Promise.all([...counts.keys()].map((name) => hasProgram(git, name)));
  return [...counts]
    .filter(([name], index) => name === 'lfs' || known[index])
    .map(
      ([name, count]) =>
        `${counted(count, 'file goes through', 'files go through')} the git filter "${name}", which containers do not have: ${seenAs(name)}`,
    );
}

function seenAs(name: string): string {
  const what = name === 'lfs' ? 'tasks see pointers in place of the content' : 'tasks see what is stored';
  return `${what}, and what they write there is committed as it is`;
}

/** Without a program for the filter, git checks files out as they are stored on the host as well. */
async function hasProgram(git: GitCommand, name: string): Promise<boolean> {
  const ways = ['smudge', 'clean', 'process'].map((way) =>
    git.result(['config', '--get', `filter.${name}.${way}`], { answers: [0, 1] }),
  );
  return (await Promise.all(ways)).some(({ code, stdout }) => code === 0 && stdout.trim() !== '');
}

/** In a partial clone git fetches missing objects when it needs them; a worker has no remote to fetch from. */
async function missingNote(git: GitCommand, base: string): Promise<string[]> {
  const { code } = await git.result(['config', '--get-regexp', String.raw`^remote\..*\.promisor$`], {
    answers: [0, 1],
  });
  if (code !== 0) return [];
  const listed = await git.text(['rev-list', '--objects', '--missing=print', '--no-object-names', `${base}^{tree}`]);
  const missing = listed.split('\n').filter((line) => line.startsWith('?')).length;
  if (missing === 0) return ['this is a partial clone: in containers tasks see only the history that is here'];
  const short = base.slice(0, 12);
  return [
    `this is a partial clone, ${counted(missing, 'object')} of ${short} ${missing === 1 ? 'is' : 'are'} not here, and containers cannot fetch: get them first with: git archive ${short} > /dev/null`,
  ];
}
