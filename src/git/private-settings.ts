import path from 'node:path';
import { readIfThere } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';

/** Those of the user's settings that change the content of files and commits, and run no program. */
const KEPT =
  /^((user|author|committer)\.(name|email)|core\.(autocrlf|eol|safecrlf|ignorecase|precomposeunicode|symlinks|filemode)|i18n\.commitencoding)$/;

/** Those among them that change what is checked out. */
const OF_CHECKOUTS = /^core\.(autocrlf|eol|symlinks|ignorecase|precomposeunicode|filemode)$/;

const USERS_ATTRIBUTES = 'info/attributes-of-user';

/** Files by name, with their content. */
export type PrivateSettings = Readonly<Record<string, string | Buffer>>;

/** Files of a private git directory with which git there treats files as it does for the user. */
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
  // Not joined with the repository's own: that one overrules the tree's attributes, this one does not.
  if (attributes !== undefined) lines.push(['core.attributesfile', path.posix.join(inside.gitDir, USERS_ATTRIBUTES)]);
  return {
    config: lines.map(formatSetting).join(''),
    // The last match counts, and the repository's file overrules the user's.
    'info/exclude': joined([excludes, ownExcludes]),
    ...(attributes === undefined ? {} : { [USERS_ATTRIBUTES]: attributes }),
    ...(ownAttributes === undefined ? {} : { 'info/attributes': ownAttributes }),
  };
}

/** What of the user's settings changes the files of a checkout, one text for each. */
export async function checkoutSettings(git: GitCommand, commonDir: string): Promise<readonly string[]> {
  const attributes = await Promise.all([
    usersFile(git, 'core.attributesFile', 'attributes'),
    readIfThere(path.join(commonDir, 'info', 'attributes')),
  ]);
  const settings = (await keptSettings(git)).filter(([key]) => OF_CHECKOUTS.test(key));
  return [...attributes.map((file) => file?.toString('latin1') ?? ''), ...settings.map(formatSetting)];
}

type Setting = readonly [key: string, value: string];

async function keptSettings(git: GitCommand): Promise<Setting[]> {
  const { stdout } = await git.result(['config', '--list', '-z', '--includes'], { answers: [0] });
  const settings = stdout.split('\0').map((entry): Setting => {
    const cut = entry.indexOf('\n');
    // A setting without a value is true.
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

/** A file for all repositories of a user: the one that the setting names, else the one at git's default path. */
async function usersFile(git: GitCommand, key: string, name: string): Promise<Buffer | undefined> {
  const { code, stdout } = await git.result(['config', '--type=path', '--get', '-z', key], { answers: [0, 1] });
  const { HOME: home = '', XDG_CONFIG_HOME: xdg = '' } = git.env;
  const file = code === 0 ? stdout.slice(0, -1) : path.join(xdg === '' ? path.join(home, '.config') : xdg, 'git', name);
  // Git does without a file that it cannot read as well.
  return readIfThere(path.resolve(git.cwd, file)).catch(() => undefined);
}

/** One after the other; a line end comes between, since the last line of the first may have none. */
function joined(texts: readonly (Buffer | undefined)[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => (text === undefined ? [] : [text, Buffer.from('\n')])));
}
