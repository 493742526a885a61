import { readFile, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { sleep } from './clock.ts';
import { isHeldBy } from './file-lock.ts';

/** A living process renames or removes its draft within moments. */
const DRAFT_MS = 60_000;
const EMPTY_LOOKS = 4;
const LOOK_AGAIN_MS = 250;
const ATOMIC = /^\.(.+)\.[0-9a-f]{16}\.tmp$/;

/**
 * Removes the drafts that killed processes have left in a folder. Drafts of `own` files go at once, because only the caller
 * writes those; all others when they are a minute old.
 */
export async function removeDrafts(folder: string, own: readonly string[] = []): Promise<void> {
  for (const name of await readdir(folder).catch((): string[] => [])) {
    const target = ATOMIC.exec(name)?.[1];
    const file = path.join(folder, name);
    if (target !== undefined && (own.includes(target) || (await isOldDraft(file)))) await rm(file, { force: true });
  }
}

/** Removes the drafts of this lock that dead processes have left. */
export async function removeLockDrafts(lock: string): Promise<void> {
  const prefix = `${path.basename(lock)}.`;
  const names = await readdir(path.dirname(lock)).catch((): string[] => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    if (!/^(takeover|[0-9a-f]{16})$/.test(name.slice(prefix.length))) continue;
    const file = path.join(path.dirname(lock), name);
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) continue;
    // In doubt it stays: it holds no lock.
    const isLeft = text === '' ? await staysEmpty(file) : !(await isHeldBy(text).catch(() => true));
    if (isLeft) await rm(file, { force: true });
  }
}

/** One that a loss of power has left; a living process fills its draft at once. */
async function staysEmpty(file: string): Promise<boolean> {
  for (let looks = 0; looks < EMPTY_LOOKS; looks += 1) {
    await sleep(LOOK_AGAIN_MS);
    const stats = await stat(file).catch(() => undefined);
    if (stats?.size !== 0) return false;
  }
  return true;
}

/** When the wall clock is set forward, a new draft looks old and is removed: its writer fails with an error, and nothing is lost. */
export async function isOldDraft(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined);
  return stats !== undefined && Date.now() - stats.mtimeMs > DRAFT_MS;
}
