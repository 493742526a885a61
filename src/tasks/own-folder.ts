export const OWN_FOLDER = '.mahabharatha';
/** In it; the last two are of earlier versions. */
const WRITTEN_BY_RUNS: ReadonlySet<string> = new Set(['state', 'logs', 'worktrees', 'git']);
/** Characters that HFS+ overlooks in a name; git refuses `.git` written with them for the same reason. */
const IGNORED = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/**
 * A name as the most lenient file system reads it: without case, without characters that show nothing, and on NTFS
 * without what follows a colon and without blanks and dots at the end.
 */
export function foldName(name: string): string {
  return name
    .replaceAll(IGNORED, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}

/** The folder that steers runs, or something in it, however a file system may spell it: NTFS has short names too. */
export function isInOwnFolder(path: string): boolean {
  const top = foldName(withoutEmptyNames(path).split(/[/\\]/)[0] ?? '');
  return top === OWN_FOLDER || /^mahabh~\d+$/.test(top);
}

/** What runs write; no task and no commit of the repository may. */
export function isWrittenByRuns(path: string): boolean {
  const [, inner = ''] = withoutEmptyNames(path).split('/');
  return isInOwnFolder(path) && WRITTEN_BY_RUNS.has(foldName(inner));
}

/** Names of a path as it is written, without what means nothing; undefined when it reads like a glob. */
export function literalPath(text: string): string | undefined {
  if (text.endsWith('/') || /[*?{}]/.test(text)) return undefined;
  const path = withoutEmptyNames(text);
  return path === '' ? undefined : path;
}

function withoutEmptyNames(text: string): string {
  return text
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .join('/');
}
