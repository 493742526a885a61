import { stat } from 'node:fs/promises';
import { libErrors, readWhole, reasonOf } from '../lib/index.ts';

const SHORTEST = 16;

/** Tokens by user, from a file with a line "<user> <token>" for each. Throws FILE_UNREADABLE and USAGE. */
export async function readTokens(file: string): Promise<ReadonlyMap<string, string>> {
  const [bytes, { mode }] = await Promise.all([readWhole(file), stat(file)]).catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
  if ((mode & 0o077) !== 0) throw wrong(`${file} may be read by other users.`, `chmod 600 ${file}`);
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const pairs = lines.map((line, index) => {
    const [user = '', token = '', ...rest] = line.trim().split(/\s+/);
    if (token.length < SHORTEST || rest.length > 0)
      throw wrong(
        `Line ${index + 1} of ${file} is not a user and a token of at least ${SHORTEST} characters.`,
        'Write a line such as "anna 3f9c…" for each user; openssl rand -hex 24 makes a token.',
      );
    return [token, user] as const;
  });
  if (pairs.length === 0) throw wrong(`${file} has no token.`, 'Write a line "<user> <token>" for each user.');
  return new Map(pairs);
}

const wrong = (problem: string, hint: string): Error => libErrors.USAGE({ problem, hint });
