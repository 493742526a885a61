import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
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

const COPIES = ['local.db', 'secrets/deep/key'];
const NO_COPIES = { folder: '/nonexistent', bytes: 0 };
const none = async (): Promise<readonly string[]> => [];

interface Scene {
  readonly at: (name: string) => string;
  readonly record: SetupRecord;
}

/** A worktree with a set-up's packages beside files that git tracks. */
async function setUp(bytes = 0): Promise<Scene> {
  const [folder, copies] = [tempFolder(), path.join(tempFolder(), 'copies')];
  const at = (name: string): string => path.join(folder, name);
  for (const made of ['.git', 'src', 'node_modules/tool/empty', 'secrets/deep'])
    mkdirSync(at(made), { recursive: true });
  for (const file of ['.git/HEAD', 'src/a.ts', 'src/a.js', 'node_modules/tool/index.js', '.env', ...COPIES])
    writeFileSync(at(file), 'as made');
  symlinkSync('tool', at('node_modules/link'));
  const worktree = { folder, tracked: async () => ['src/a.ts'], copied: async () => COPIES };
  return { at, record: await recordSetup(worktree, { folder: copies, bytes }) };
}

/** With the times that it had. */
function rewrite(file: string, text: string): void {
  const { atime, mtime } = statSync(file);
  writeFileSync(file, text);
  utimesSync(file, atime, mtime);
}

const CHANGES: readonly [string, (at: Scene['at']) => void][] = [
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
    (at) => {
      const elsewhere = `${readdirSync(at('.git')).length}`;
      renameSync(at('node_modules'), at(`.git/${elsewhere}`));
      symlinkSync(`.git/${elsewhere}`, at('node_modules'));
    },
  ],
];

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

    expect(readdirSync(at('.')).toSorted()).toEqual(['.env', '.git', 'local.db', 'node_modules', 'secrets', 'src']);
    expect(readdirSync(at('node_modules')).toSorted()).toEqual(['link', 'tool']);
    expect(readdirSync(at('node_modules/tool')).toSorted()).toEqual(['empty', 'index.js']);
    expect(readdirSync(at('src')).toSorted()).toEqual(['a.js', 'a.ts']);
    expect(existsSync(at('.git/HEAD'))).toBe(true);
    expect(await record.restore()).toBe(true);
  });

  it('stays when copied files were changed, which are copied again; what has taken their place goes', async () => {
    const { at, record } = await setUp();
    writeFileSync(at('local.db'), 'changed');
    writeFileSync(at('secrets/deep/journal'), 'new');
    expect(await record.restore()).toBe(true);
    expect(readdirSync(at('secrets/deep'))).toEqual(['key']);
    rmSync(at('local.db'));
    mkdirSync(at('local.db'));
    rmSync(at('secrets'), { recursive: true });
    symlinkSync('/', at('secrets'));
    expect(await record.restore()).toBe(true);
    expect(readdirSync(at('.')).toSorted()).toEqual(['.env', '.git', 'node_modules', 'src']);
  });

  it('stays when a store of packages gives one of its files a further name in another worktree', async () => {
    const folder = tempFolder();
    const at = (name: string): string => path.join(folder, name);
    for (const made of ['store', 'one', 'other']) mkdirSync(at(made));
    writeFileSync(at('store/index.js'), 'as made');
    linkSync(at('store/index.js'), at('one/index.js'));
    const record = await recordSetup({ folder: at('one'), tracked: none, copied: none }, NO_COPIES);
    linkSync(at('store/index.js'), at('other/index.js'));
    expect(await record.restore()).toBe(true);
    writeFileSync(at('one/index.js'), 'changed');
    expect(await record.restore()).toBe(false);
  });

  it.each(CHANGES)('has to be made again when %s, and there is no copy', async (_what, change) => {
    const { at, record } = await setUp();
    change(at);
    expect(await record.restore()).toBe(false);
  });

  it('has to be made again when a folder cannot be read', async () => {
    const { at, record } = await setUp();
    chmodSync(at('node_modules'), 0);
    expect(await record.restore()).toBe(false);
  });

  it.each(CHANGES)('is put back from its copy when %s', async (_what, change) => {
    const { at, record } = await setUp(1024);
    for (let attempt = 0; attempt < 2; attempt++) {
      change(at);
      expect(await record.restore()).toBe(true);
      expect(readFileSync(at('node_modules/tool/index.js'), 'utf8')).toBe('as made');
      expect(readFileSync(at('src/a.js'), 'utf8')).toBe('as made');
      expect([readlinkSync(at('node_modules/link')), existsSync(at('node_modules/tool/empty'))]).toEqual([
        'tool',
        true,
      ]);
    }
  });

  it('is copied as far as there is room, and what is small goes first', async () => {
    const { at, record } = await setUp('as made'.length * 2);
    for (const small of ['.env', 'src/a.js']) writeFileSync(at(small), 'changed, small');
    expect(await record.restore()).toBe(true);
    expect(readFileSync(at('.env'), 'utf8')).toBe('as made');
  });
});
