import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import type { Repository } from '../../src/git/index.ts';
import { tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const KIB = 1024;
const text = (kib: number): string => 'x'.repeat(kib * KIB);

async function open(): Promise<{
  temp: TempRepository;
  base: string;
  growth: Repository['checkoutGrowth']['between'];
}> {
  const temp = tempRepository();
  const base = temp.commit({ 'a.txt': text(8), 'there/b.txt': 'b' });
  return { temp, base, growth: (await openRepository(temp.folder, temp.env)).checkoutGrowth.between };
}

describe('how much larger a checkout gets', () => {
  it('is the sum over all paths, also where one blob has many names', async () => {
    const { temp, base, growth } = await open();
    const names = Array.from({ length: 15 }, (_, index) => `${index}.bin`);
    const commit = temp.commit(Object.fromEntries(names.map((name) => [name, text(400)])));
    expect(await growth(base, commit)).toMatchObject({ bytes: 15 * 400 * KIB });
  });

  it('names the paths that add most', async () => {
    const { temp, base, growth } = await open();
    const commit = temp.commit({ 'a.txt': text(40), small: 's', 'c.txt': text(20), 'd.txt': text(60) });
    expect((await growth(base, commit)).heaviest).toEqual([
      { path: 'd.txt', bytes: 60 * KIB },
      { path: 'a.txt', bytes: 32 * KIB },
      { path: 'c.txt', bytes: 20 * KIB },
    ]);
  });

  it('counts 4 KiB for an empty file, a link, a submodule and each new folder', async () => {
    const { temp, base, growth } = await open();
    symlinkSync('a.txt', path.join(temp.folder, 'link'));
    temp.commit({ empty: '', 'x/y/1': '', 'x/y/2': '', 'x/z/1': '' });
    temp.git('update-index', '--add', '--cacheinfo', `160000,${base},module`);
    temp.git('commit', '--quiet', '--message', 'module');
    const commit = temp.git('rev-parse', 'HEAD');
    // empty, link, module, three files in x, and x, x/y, x/z.
    expect(await growth(base, commit)).toMatchObject({ bytes: 9 * 4 * KIB });
  });

  it('is negative when files are removed or shrink', async () => {
    const { temp, base, growth } = await open();
    temp.git('rm', '--quiet', 'there/b.txt');
    const commit = temp.commit({ 'a.txt': 'a' });
    // The file and its folder, and one of two blocks.
    expect(await growth(base, commit)).toMatchObject({ bytes: -3 * 4 * KIB });
  });

  it('is the size of the whole checkout when it starts from nothing; the facts of a commit have that from its parent', async () => {
    const { temp, base, growth } = await open();
    const commit = temp.commit({ 'c.txt': text(16) });
    // README.md, a.txt, there and there/b.txt.
    expect(await growth(null, base)).toMatchObject({ bytes: 20 * KIB, heaviest: [{ path: 'a.txt' }, {}, {}] });
    expect(await growth(base, base)).toEqual({ bytes: 0, heaviest: [] });
    const facts = await (await openRepository(temp.folder, temp.env)).commitFacts(commit);
    expect(facts?.growth).toEqual(await growth(base, commit));
  });

  it('leaves out what a partial clone does not have, and fetches nothing', async () => {
    const { temp } = await open();
    temp.git('config', 'uploadpack.allowFilter', 'true');
    const clone = path.join(temp.folder, '..', 'clone');
    temp.git('clone', '--quiet', '--no-checkout', '--filter=blob:none', `file://${temp.folder}`, clone);
    writeFileSync(path.join(clone, 'new.txt'), text(100));
    temp.gitIn(clone, 'add', 'new.txt');
    const tree = temp.gitIn(clone, 'write-tree');
    const commit = temp.gitIn(clone, 'commit-tree', '-p', 'HEAD', '-m', 'new', tree);
    const { checkoutGrowth } = await openRepository(clone, temp.env);
    // All others are removed: each counts as one block, because its size is unknown.
    const { bytes } = await checkoutGrowth.between('HEAD', commit);
    expect(bytes).toBe(100 * KIB - 4 * 4 * KIB);
    expect(temp.gitIn(clone, 'rev-list', '--objects', '--all', '--missing=print')).toContain('?');
  });
});
