import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { readTokens } from './tokens.ts';

const TOKEN = '0123456789abcdef0123';

function tokenFile(text: string, mode = 0o600): string {
  const file = path.join(tempFolder(), 'tokens');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

it('reads a token for each user', async () => {
  const file = tokenFile(`# who\n\nanna ${TOKEN}\n  ben\t${TOKEN}1  \n`);
  expect([...(await readTokens(file))]).toEqual([
    [TOKEN, 'anna'],
    [`${TOKEN}1`, 'ben'],
  ]);
});

it.each([
  ['a short token', 'anna short\n', 0o600, /Line 1 of .* is not a user and a token/],
  ['a token without a user', `${TOKEN}\n`, 0o600, /Line 1/],
  [
    'a line after comments, by its number in the file',
    `# who\n\n  # a comment\nanna ${TOKEN}\nben short\n`,
    0o600,
    /Line 5/,
  ],
  ['one token for two users', `anna ${TOKEN}\nben ${TOKEN}\n`, 0o600, /Line 2 of .* has the token of anna/],
  ['no token', '# nothing\n', 0o600, /has no token/],
  ['a file that others may read', `anna ${TOKEN}\n`, 0o644, /may be read by other users/],
])('refuses %s', async (_, text, mode, problem) => {
  await expect(readTokens(tokenFile(text, mode))).rejects.toThrow(problem);
});
