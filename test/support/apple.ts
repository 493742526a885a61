import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempFolder } from './temp-folder.ts';

/** The program that stands for Apple's `container` (see there for its settings). */
export const APPLE_PROGRAM = fileURLToPath(new URL('apple-container.mjs', import.meta.url));

/** Makes the folder of PATH where the program is called `container`. */
export function appleFolder(folder = tempFolder()): string {
  symlinkSync(APPLE_PROGRAM, path.join(folder, 'container'));
  return folder;
}

/** The environment of a user whose engine is Apple's; it lives in the folder. */
export function appleUser(folder: string): { readonly PATH: string; readonly XDG_CONFIG_HOME: string } {
  mkdirSync(path.join(folder, 'mahabharatha'));
  writeFileSync(path.join(folder, 'mahabharatha/settings.yaml'), 'engine: apple\n');
  return { PATH: `${appleFolder(folder)}:${process.env['PATH']}`, XDG_CONFIG_HOME: folder };
}
