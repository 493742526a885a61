import path from 'node:path';
import { loadConfig } from '../../config/index.ts';
import type { Config } from '../../config/index.ts';
import { guardErrors } from '../../guard/errors.ts';
import { isOfThisMachine, readTokens } from '../../guard/index.ts';
import { isThere, libErrors } from '../../lib/index.ts';

const LAST_PORT = 65_535;

interface Letting {
  readonly tokenFile: string | undefined;
  readonly noToken: boolean;
}

/** Who may ask; null: everyone who reaches the server. Throws TOKEN_NEEDED. */
export async function tokensFor(
  { tokenFile, noToken }: Letting,
  host: string,
  cwd: string,
): Promise<ReadonlyMap<string, string> | null> {
  const tokens = tokenFile === undefined ? null : await readTokens(path.resolve(cwd, tokenFile));
  if (tokens === null && !noToken && !isOfThisMachine(host)) throw guardErrors.TOKEN_NEEDED({ host });
  return tokens;
}

/** Throws USAGE. */
export function portIn(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= LAST_PORT) return Number(text);
  throw libErrors.USAGE({ problem: `"${text}" is not a port.`, hint: 'Name a number from 0 to 65535.' });
}

/** A file that is named is approved by that. It must be there: without it the server would offer something else than was meant. */
export async function namedConfig(file: string): Promise<Config> {
  if (!(await isThere(file)))
    throw libErrors.USAGE({
      problem: `There is no file ${file}.`,
      hint: 'Name the configuration that the server is to have.',
    });
  return loadConfig(file);
}

export function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
