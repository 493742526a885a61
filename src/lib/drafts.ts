import { readFile, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isHeldBy } from './file-lock.ts';

/** A draft becomes the file, or goes, within moments. */
const DRAFT_MS = 60_000;
const ATOMIC = /^\.(.+)\.[0-9a-f]{16}\.tmp$/;

/**
 * Removes drafts in a folder that killed processes have left beside the files they were for. Those of `own` files go at
 * once, because the caller alone writes these; all others when they have lain there for a minute.
 */
export async function removeDrafts(folder: string, own: readonly string[] = []): Promise<void> {
  for (const name of await readdir(folder).catch((): string[] => [])) {
    const target = ATOMIC.exec(name)?.[1];
    const file = path.join(folder, name);
    if (target !== undefined && (own.includes(target) || (await isOldDraft(file)))) await rm(file, { force: true });
  }
}

/** Removes what processes that are dead have written to take this lock. */
export async function removeLockDrafts(lock: string): Promise<void> {
  const prefix = `${path.basename(lock)}.`;
  const names = await readdir(path.dirname(lock)).catch((): string[] => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    if (!/^(takeover|[0-9a-f]{16})$/.test(name.slice(prefix.length))) continue;
    const file = path.join(path.dirname(lock), name);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    // It may be just being written.
    const dead = text === '' ? await isOldDraft(file) : !(await isHeldBy(text));
    if (dead) await rm(file, { force: true });
  }
}

/** A wall clock that is set forward in these moments makes a young draft look old: its writer then fails, says so, and loses nothing. */
export async function isOldDraft(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > DRAFT_MS;
}
