import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import type { CliContext } from '../command.ts';
import { askWords } from './ask-words.ts';

function asked(from: string): Promise<unknown> {
  const cwd = tempFolder();
  mkdirSync(path.join(cwd, 'folder'));
  writeFileSync(path.join(cwd, 'words.md'), 'People log in by mail – often.');
  writeFileSync(path.join(cwd, 'binary'), Buffer.from([1, 0, 2]));
  writeFileSync(path.join(cwd, 'latin'), Buffer.from('naïve', 'latin1'));
  return askWords({ description: undefined, from }, 'login', { cwd, terminal: false } as CliContext);
}

describe('the words of a person from a file', () => {
  it('are its text', async () => {
    expect(await asked('words.md')).toEqual({ problem: 'People log in by mail – often.' });
  });

  it.each([
    ['no-such-file', /^There is no file .*no-such-file\.$/],
    ['folder', /folder cannot be read: it is a folder\.$/],
    ['binary', /binary is not text in UTF-8\.$/],
    ['latin', /latin is not text in UTF-8\.$/],
  ])('cannot be in %s', async (file, words) => {
    await expect(asked(file)).rejects.toThrow(words);
  });
});
