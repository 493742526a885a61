import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from './process.ts';

/** The file that a shell would run. */
export async function findProgram(program: string, env: Environment): Promise<string | undefined> {
  const folders = program.includes('/') ? [''] : (env['PATH'] ?? '').split(path.delimiter);
  for (const folder of folders) {
    const file = path.join(folder, program);
    const usable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return file;
  }
  return undefined;
}
