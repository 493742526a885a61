import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** Begins as git's own names do, so that `git gc` removes what a crash leaves; then the feature. No ref contains a "~". */
export function quarantinePrefix(folderOfBranches: string): string {
  return `tmp_objdir-${folderOfBranches.replaceAll('/', '~')}~`;
}

/** Removes the objects that a killed orchestrator was examining. The caller holds the feature's lock. */
export async function removeQuarantines(commonDir: string, feature: string): Promise<void> {
  const objects = path.join(commonDir, 'objects');
  const prefix = quarantinePrefix(`mahabharatha/${feature}`);
  const names = (await readdir(objects)).filter((name) => name.startsWith(prefix));
  for (const name of names) await rm(path.join(objects, name), { recursive: true, force: true, maxRetries: 5 });
}
