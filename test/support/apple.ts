import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from './temp-folder.ts';

/** The program that stands for Apple's `container` (see there for its settings). */
export const APPLE_PROGRAM = fileURLToPath(new URL('apple-container.mjs', import.meta.url));

/** A folder for PATH where the program is called `container`. */
export function appleFolder(): string {
  const folder = tempFolder();
  symlinkSync(APPLE_PROGRAM, path.join(folder, 'container'));
  return folder;
}
