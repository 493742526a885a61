import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempFolder } from './temp-folder.ts';

/** An environment with a fake npm on the PATH. */
export function npmThat(does: string): Record<string, string> {
  const folder = tempFolder();
  const file = path.join(folder, 'npm');
  writeFileSync(file, `#!/bin/sh\n${does}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${folder}:/usr/bin:/bin` };
}

export const npmWith = (listing: string): Record<string, string> => npmThat(`cat <<'END'\n${listing}END`);
