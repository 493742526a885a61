import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { recordSetup } from './setup-record.ts';
import type { SetupRecord } from './setup-record.ts';

interface Scene {
  readonly at: (name: string) => string;
  readonly record: SetupRecord;
}

/** A worktree with a set-up's packages beside files that git tracks. */
async function setUp(): Promise<Scene> {
  const folder = tempFolder();
  const at = (name: string): string => path.join(folder, name);
  for (const made of ['.git', 'src', 'node_modules/tool/empty']) mkdirSync(at(made), { recursive: true });
  for (const file of ['.git/HEAD', 'src/a.ts', 'src/a.js', 'node_modules/tool/index.js', '.env'])
    writeFileSync(at(file), 'as made');
  symlinkSync('tool', at('node_modules/link'));
  return { at, record: await recordSetup({ folder, tracked: async () => Promise.resolve(['src/a.ts']) }) };
}

/** With the times that it had. */
function rewrite(file: string, text: string): void {
  const { atime, mtime } = statSync(file);
  writeFileSync(file, text);
  utimesSync(file, atime, mtime);
}

describe('what a set-up has made', () => {
  it('stays, and what came beside it goes', async () => {
    const { at, record } = await setUp();
    writeFileSync(at('src/a.ts'), 'changed, and tracked');
    writeFileSync(at('.git/HEAD'), 'changed');
    for (const folder of ['node_modules/.cache/deep', 'node_modules/other', 'dist', 'src/new'])
      mkdirSync(at(folder), { recursive: true });
    writeFileSync(at('node_modules/.cache/deep/x'), 'x');
    writeFileSync(at('node_modules/tool/extra.js'), 'x');
    chmodSync(at('node_modules/.cache'), 0o500);
    symlinkSync('/', at('dist/root'));

    expect(await record.restore()).toBe(true);

    expect(readdirSync(at('.')).toSorted()).toEqual(['.env', '.git', 'node_modules', 'src']);
    expect(readdirSync(at('node_modules')).toSorted()).toEqual(['link', 'tool']);
    expect(readdirSync(at('node_modules/tool')).toSorted()).toEqual(['empty', 'index.js']);
    expect(readdirSync(at('src')).toSorted()).toEqual(['a.js', 'a.ts']);
    expect(existsSync(at('.git/HEAD'))).toBe(true);
    expect(await record.restore()).toBe(true);
  });

  it.each<[string, (at: Scene['at']) => void]>([
    [
      'a file is changed, with its size and its times as before',
      (at) => rewrite(at('node_modules/tool/index.js'), 'as fake'),
    ],
    ['a file is gone', (at) => rmSync(at('src/a.js'))],
    ['an empty folder is gone', (at) => rmSync(at('node_modules/tool/empty'), { recursive: true })],
    ['a file is replaced', (at) => renameSync(at('.env'), at('node_modules/tool/index.js'))],
    ['a link leads elsewhere', (at) => (rmSync(at('node_modules/link')), symlinkSync('/', at('node_modules/link')))],
    ['rights are changed', (at) => chmodSync(at('node_modules/tool/index.js'), 0o755)],
    [
      'a folder has become a link',
      (at) => (renameSync(at('node_modules'), at('.git/x')), symlinkSync('.git/x', at('node_modules'))),
    ],
    ['a folder cannot be read', (at) => chmodSync(at('node_modules'), 0)],
  ])('has to be made again when %s', async (_what, change) => {
    const { at, record } = await setUp();
    change(at);
    expect(await record.restore()).toBe(false);
  });
});
