import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './app-error.ts';
import { isThere } from './if-there.ts';

/** Makes a folder and those above it, where they are not there yet. */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode });
  } catch (error) {
    // Node says this of a disk that is full, read-only or failing, too.
    if (systemCode(error) !== 'ENOENT') throw error;
    await makeOneByOne(folder, mode);
  }
}

/** Throws the system's own reason. */
async function makeOneByOne(folder: string, mode: number): Promise<void> {
  const parent = path.dirname(folder);
  if (parent !== folder && !(await isThere(parent))) await makeOneByOne(parent, mode);
  await mkdir(folder, { mode }).catch(async (error: unknown) => {
    const there = await stat(folder).catch(() => undefined);
    if (there?.isDirectory() !== true) throw error;
  });
}
