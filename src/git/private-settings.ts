import path from 'node:path';
import { readIfThere } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';

/** What of the user's settings changes the content of files and commits; nothing that runs a program. */
const KEPT =
  /^((user|author|committer)\.(name|email)|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|symlinks|filemode)|i18n\.commitencoding)$/;

const USERS_ATTRIBUTES = 'info/attributes-of-user';

/** Files by name, with what is in them. */
export type PrivateSettings = Readonly<Record<string, string | Buffer>>;

/** Files of a private git directory that make git there treat files as it does for the user, by name. */
export async function settingsFor(
  git: GitCommand,
  commonDir: string,
  inside: { readonly worktree: string; readonly gitDir: string },
): Promise<PrivateSettings> {
  const [excludes, ownExcludes, attributes, ownAttributes] = await Promise.all([
    usersFile(git, 'core.excludesFile', 'ignore'),
    readIfThere(path.join(commonDir, 'info', 'exclude')),
    usersFile(git, 'core.attributesFile', 'attributes'),
    readIfThere(path.join(commonDir, 'info', 'attributes')),
  ]);
  const lines: Setting[] = [...(await keptSettings(git)), ...(await ownSettings(git, inside.worktree))];
  // Not joined with the repository's own: that one goes before what the tree says, this one behind it.
  if (attributes !== undefined) lines.push(['core.attributesfile', path.posix.join(inside.gitDir, USERS_ATTRIBUTES)]);
  return {
    config: lines.map(formatSetting).join(''),
    // Of two that match the last one counts, and the user's own yields to the repository's.
    'info/exclude': joined([excludes, ownExcludes]),
    ...(attributes === undefined ? {} : { [USERS_ATTRIBUTES]: attributes }),
    ...(ownAttributes === undefined ? {} : { 'info/attributes': ownAttributes }),
  };
}

type Setting = readonly [key: string, value: string];

async function keptSettings(git: GitCommand): Promise<Setting[]> {
  const { stdout } = await git.result(['config', '--list', '-z', '--includes'], { answers: [0] });
  const settings = stdout.split('\0').map((entry): Setting => {
    const cut = entry.indexOf('\n');
    // A name without "=" is true.
    return cut === -1 ? [entry, 'true'] : [entry.slice(0, cut), entry.slice(cut + 1)];
  });
  return settings.filter(([key]) => KEPT.test(key));
}

async function ownSettings(git: GitCommand, worktree: string): Promise<Setting[]> {
  const format = (await git.text(['rev-parse', '--show-object-format'])).trim();
  return [
    ['core.repositoryformatversion', format === 'sha1' ? '0' : '1'],
    ['core.bare', 'false'],
    ['core.worktree', worktree],
    ['core.logallrefupdates', 'true'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ...(format === 'sha1' ? [] : [['extensions.objectformat', format] as const]),
  ];
}

function formatSetting([key, value]: Setting): string {
  const [section = '', name = ''] = key.split('.');
  const quoted = value.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
  return `[${section}]\n\t${name} = "${quoted}"\n`;
}

/** A file for all of a user's repositories: the one that the user has named, else the one that git finds by itself. */
async function usersFile(git: GitCommand, key: string, name: string): Promise<Buffer | undefined> {
  const { code, stdout } = await git.result(['config', '--type=path', '--get', '-z', key], { answers: [0, 1] });
  const { HOME: home = '', XDG_CONFIG_HOME: xdg = '' } = git.env;
  const file = code === 0 ? stdout.slice(0, -1) : path.join(xdg === '' ? path.join(home, '.config') : xdg, 'git', name);
  // Whatever cannot be read git does without as well.
  return readIfThere(path.resolve(git.cwd, file)).catch(() => undefined);
}

/** One below the other; the last line of the first may have no end. */
function joined(texts: readonly (Buffer | undefined)[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => (text === undefined ? [] : [text, Buffer.from('\n')])));
}
