export const OWN_FOLDER = '.mahabharatha';
/** Folders in it; the last two are of earlier versions. */
const WRITTEN_BY_RUNS: ReadonlySet<string> = new Set(['state', 'logs', 'worktrees', 'git']);
/** HFS+ ignores these in a name; git refuses `.git` with them for the same reason. */
const IGNORED = /[\u200C-\u200F\u202A-\u202E\u206A-\u206F\uFEFF]/gu;

/**
 * A name as the most lenient file systems read it: without case and invisible characters, and as on NTFS without a colon
 * and what follows it, and without blanks and dots at the end.
 */
export function foldName(name: string): string {
  return name
    .replaceAll(IGNORED, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '')
    .toLowerCase();
}

/** The folder that steers runs, or something in it, in any spelling of a file system: NTFS has short names, too. */
export function isInOwnFolder(path: string): boolean {
  const top = foldName(namesOf(path)[0]?.split('\\')[0] ?? '');
  return top === OWN_FOLDER || /^mahabh~\d+$/.test(top);
}

/** What runs write; no task and no commit of the repository may. */
export function isWrittenByRuns(path: string): boolean {
  const [, inner = ''] = namesOf(path);
  return isInOwnFolder(path) && WRITTEN_BY_RUNS.has(foldName(inner));
}

/** A path without empty names and dots; undefined when it is a glob. */
export function literalPath(text: string): string | undefined {
  if (text.endsWith('/') || /[*?{}]/.test(text)) return undefined;
  return namesOf(text).join('/') || undefined;
}

export function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}
