import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';

/** A checkout for somebody who must not write the user's repository: an empty folder, and a git directory of its own. */
export interface NewPrivateCheckout {
  readonly folder: string;
  readonly gitDir: string;
  readonly branch: string;
  readonly base: string;
  /** Where the two and the object folders are for whoever works in it. */
  readonly inside: { readonly worktree: string; readonly gitDir: string; readonly objects: readonly string[] };
}

const EXCLUDES = path.join('info', 'exclude');

/**
 * Written by hand, in git's own format: no git of ours ever runs in these folders, and a worker starts sooner than
 * with a clone. The files themselves are checked out by the worker.
 */
export async function addPrivateCheckout(
  git: GitCommand,
  commonDir: string,
  checkout: NewPrivateCheckout,
): Promise<void> {
  const { folder, gitDir, branch, base, inside } = checkout;
  for (const made of [folder, gitDir]) await rm(made, { recursive: true, force: true, maxRetries: 8, retryDelay: 250 });
  const files: Record<string, string> = {
    HEAD: `ref: refs/heads/${branch}\n`,
    config: await configFor(git, inside.worktree),
    'packed-refs': await namesOf(git),
    [`refs/heads/${branch}`]: `${base}\n`,
    'objects/info/alternates': inside.objects.map((one) => `${one}\n`).join(''),
    ...(await copied(commonDir, EXCLUDES)),
    // Where history ends, in a shallow clone.
    ...(await copied(commonDir, 'shallow')),
  };
  await mkdir(path.join(gitDir, 'objects', 'pack'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(gitDir, name)), { recursive: true });
    await writeFile(path.join(gitDir, name), text);
  }
  await mkdir(folder, { recursive: true });
  await appendFile(path.join(folder, '.git'), `gitdir: ${inside.gitDir}\n`);
}

/** What of the user's settings changes the content of files and commits; nothing that runs a program. */
const KEPT = /^(user\.(name|email)|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode)|i18n\.commitencoding)$/;

async function configFor(git: GitCommand, worktree: string): Promise<string> {
  const { stdout } = await git.result(['config', '--list', '-z', '--includes'], { answers: [0] });
  const settings = stdout.split('\0').flatMap((entry): (readonly [string, string])[] => {
    const cut = entry.indexOf('\n');
    return cut > 0 && KEPT.test(entry.slice(0, cut)) ? [[entry.slice(0, cut), entry.slice(cut + 1)]] : [];
  });
  const format = (await git.text(['rev-parse', '--show-object-format'])).trim();
  const own: (readonly [string, string])[] = [
    ['core.repositoryformatversion', format === 'sha1' ? '0' : '1'],
    ['core.bare', 'false'],
    ['core.worktree', worktree],
    ['core.logallrefupdates', 'true'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ...(format === 'sha1' ? [] : [['extensions.objectformat', format] as const]),
  ];
  return [...settings, ...own].map(([key, value]) => formatSetting(key, value)).join('');
}

function formatSetting(key: string, value: string): string {
  const [section = '', name = ''] = key.split('.');
  const quoted = value.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `[${section}]\n\t${name} = "${quoted}"\n`;
}

/** Branches and tags as they are now: builds ask `git describe`, agents look at what there is. */
async function namesOf(git: GitCommand): Promise<string> {
  const text = await git.text(['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags']);
  const lines = text.split('\n').filter((line) => line !== '' && !line.includes(' refs/heads/mahabharatha/'));
  return lines.map((line) => `${line}\n`).join('');
}

async function copied(commonDir: string, name: string): Promise<Record<string, string>> {
  const text = await readIfThere(path.join(commonDir, name));
  return text === undefined ? {} : { [name]: text };
}

/** The repository's object folder and all that it borrows from; each path as git itself goes there. */
export async function objectFolders(commonDir: string): Promise<string[]> {
  const found = [path.join(commonDir, 'objects')];
  for (const folder of found) {
    const text = (await readIfThere(path.join(folder, 'info', 'alternates'))) ?? '';
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of lines) {
      const other = path.resolve(folder, unquote(line));
      if (!found.includes(other)) found.push(other);
    }
  }
  return found;
}

/** A path with a line end or a quote in it stands in quotes. */
function unquote(line: string): string {
  if (!line.startsWith('"')) return line;
  return line
    .slice(1, -1)
    .replaceAll(/\\(["\\])/g, '$1')
    .replaceAll(String.raw`\n`, '\n');
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
