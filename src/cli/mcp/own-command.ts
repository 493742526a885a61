import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';

const NAME = 'mahabharatha';

interface Called {
  /** This program's file, however it was called. */
  readonly file: string;
  readonly version: string;
  readonly env: Environment;
}

/** The command line with which another program starts this one. */
export async function ownCommand({ file, version, env }: Called): Promise<readonly [string, ...string[]]> {
  const own = await realpath(file);
  // The folder of npx is removed when npm clears its cache.
  if (own.split(path.sep).includes('_npx')) return ['npx', '-y', `${NAME}@${version}`];
  const found = await findProgram(NAME, env);
  if (found !== undefined && (await realpath(found)) === own) return [NAME];
  return [process.execPath, own];
}
