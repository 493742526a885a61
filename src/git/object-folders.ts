import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isMissing, readIfThere, systemCode } from '../lib/index.ts';
import { linesOf } from './git-command.ts';

/** The repository's object folder and all that it borrows from, each once. Git ignores missing ones as well. */
export async function objectFolders(commonDir: string): Promise<string[]> {
  const found: string[] = [];
  const add = async (folder: string): Promise<void> => {
    const real = await realIfThere(folder);
    if (real !== undefined && !found.includes(real)) found.push(real);
  };
  await add(path.join(commonDir, 'objects'));
  for (const folder of found) {
    const text = (await readIfThere(path.join(folder, 'info', 'alternates')))?.toString() ?? '';
    const lines = linesOf(text).filter((line) => !line.startsWith('#'));
    for (const line of lines) await add(path.resolve(folder, unquote(line)));
  }
  return found;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** A text in quotes, as in C, where other bytes than ASCII are three octal digits. Any other text stays as it is. */
function unquote(line: string): string {
  const quoted = /^"((?:[^"\\]|\\[0-3][0-7]{2}|\\[abfnrtv"\\])*)"/.exec(line)?.[1];
  if (quoted === undefined) return line;
  const bytes = Buffer.from(quoted).toString('latin1');
  const plain = bytes.replaceAll(/\\([0-7]{3}|.)/g, (_, code: string) =>
    code.length === 3 ? String.fromCodePoint(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
  return Buffer.from(plain, 'latin1').toString();
}

async function realIfThere(folder: string): Promise<string | undefined> {
  try {
    return await realpath(folder);
  } catch (error) {
    if (isMissing(error) || systemCode(error) === 'ENAMETOOLONG') return undefined;
    throw error;
  }
}
