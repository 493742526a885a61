import { stat } from 'node:fs/promises';
import { libErrors, readWhole, reasonOf } from '../lib/index.ts';

const SHORTEST = 16;

/** Tokens by user, from a file with a line "<user> <token>" for each. Throws FILE_UNREADABLE and USAGE. */
export async function readTokens(file: string): Promise<ReadonlyMap<string, string>> {
  const [bytes, { mode }] = await Promise.all([readWhole(file), stat(file)]).catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
  if ((mode & 0o077) !== 0) throw wrong(`${file} may be read by other users.`, `chmod 600 ${file}`);
  const users = new Map<string, string>();
  for (const [index, text] of bytes.toString('utf8').split('\n').entries()) {
    const line = text.trim();
    if (line === '' || line.startsWith('#')) continue;
    const { token, user } = pairIn(line, `Line ${index + 1} of ${file}`);
    const other = users.get(token);
    if (other !== undefined)
      throw wrong(`Line ${index + 1} of ${file} has the token of ${other}.`, 'Give each user a token of their own.');
    users.set(token, user);
  }
  if (users.size === 0) throw wrong(`${file} has no token.`, 'Write a line "<user> <token>" for each user.');
  return users;
}

function pairIn(line: string, where: string): { readonly token: string; readonly user: string } {
  const [user = '', token = '', ...rest] = line.split(/\s+/);
  if (token.length >= SHORTEST && rest.length === 0) return { token, user };
  throw wrong(
    `${where} is not a user and a token of at least ${SHORTEST} characters.`,
    'Write a line such as "anna 3f9c…" for each user; openssl rand -hex 24 makes a token.',
  );
}

const wrong = (problem: string, hint: string): Error => libErrors.USAGE({ problem, hint });
