import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempFolder } from './temp-folder.ts';

/** What runs before the process does anything: it takes itself for one of macOS, and starts our program in place of `ps`. */
const preload = (ps: string): string => `
  import processes from 'node:child_process';
  import { syncBuiltinESMExports } from 'node:module';
  const { spawn } = processes;
  processes.spawn = (file, ...more) => spawn(file === 'ps' ? ${JSON.stringify(ps)} : file, ...more);
  syncBuiltinESMExports();
  Object.defineProperty(process, 'platform', { value: 'darwin' });`;

/**
 * The environment for a process that looks at others as on macOS, by `ps`. `script` is a shell script that takes the place
 * of `ps`; `exec env ps "$@"` in it is the real one. Its working folder is one of its own, which is returned.
 */
export function asMacOs(script: string): { readonly env: Readonly<Record<string, string>>; readonly folder: string } {
  const folder = tempFolder();
  const ps = path.join(folder, 'ps');
  writeFileSync(ps, `#!/bin/sh\ncd '${folder}'\n${script}\n`);
  chmodSync(ps, 0o755);
  const imported = `data:text/javascript,${encodeURIComponent(preload(ps))}`;
  return { env: { NODE_OPTIONS: `--import=${imported}` }, folder };
}
