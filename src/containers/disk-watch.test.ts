import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { createDiskMeter, diskUsage, problemOf, watchDisk } from './disk-watch.ts';
import type { Places } from './labels.ts';

const MIB = 1024 ** 2;
const NOTHING = { bytes: 0, files: 0, hidden: undefined, endless: false };

function somePlaces(): Places {
  const top = tempFolder();
  const [worktree, gitDir, outbox] = ['worktree', 'git', 'outbox'].map((name) => path.join(top, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [worktree, gitDir, outbox]) mkdirSync(folder);
  return { worktree, gitDir, outbox, log: path.join(top, 'log') };
}

async function problem({ worktree, gitDir, outbox }: Places, limitBytes: number): Promise<string | undefined> {
  return problemOf(await diskUsage([worktree, gitDir, outbox]), limitBytes, 0);
}

describe('what a worker keeps on the disk', () => {
  it('is the sum of its three folders', async () => {
    const places = somePlaces();
    for (const folder of [places.worktree, places.gitDir, places.outbox])
      writeFileSync(path.join(folder, 'file'), Buffer.alloc(MIB, 1));
    expect(await watchDisk(createDiskMeter(places, 'none'), 2.5 * MIB, new AbortController().signal)).toMatch(
      /^killed: its folders hold 3\.0 MiB on the disk, the limit is 2\.5 MiB \(workers\.container\.disk\)$/,
    );
    expect(await problem(places, 4 * MIB)).toBeUndefined();
  });

  it('is what takes room: no holes, nothing twice, and nothing that is somewhere else', async () => {
    const places = somePlaces();
    const elsewhere = path.join(tempFolder(), 'large');
    writeFileSync(elsewhere, Buffer.alloc(4 * MIB, 1));
    const file = path.join(places.worktree, 'file');
    writeFileSync(file, Buffer.alloc(MIB, 1));
    linkSync(file, path.join(places.worktree, 'again'));
    symlinkSync(elsewhere, path.join(places.worktree, 'link'));
    symlinkSync(path.dirname(elsewhere), path.join(places.outbox, 'link'));
    writeFileSync(path.join(places.worktree, 'hole'), '');
    truncateSync(path.join(places.worktree, 'hole'), 100 * 1024 * MIB);
    expect(await problem(places, 2 * MIB)).toBeUndefined();
  });

  it.skipIf(process.platform !== 'linux')('counts a file for 4 KiB at least, also an empty one', async () => {
    const places = somePlaces();
    execFileSync('bash', ['-c', 'touch file-{1..600}'], { cwd: places.worktree });
    expect(await problem(places, 2 * MIB)).toMatch(/hold 60\d files, the limit is 512: one for each 4 KiB of 2\.0 MiB/);
    expect(await problem(places, 3 * MIB)).toBeUndefined();
  });

  it('is looked at again and again, until there is too much', async () => {
    const sizes = [1, 3];
    const measure = async (): Promise<typeof NOTHING> => ({ ...NOTHING, bytes: sizes.shift() ?? 0 });
    expect(await watchDisk({ places: somePlaces(), measure }, 2, new AbortController().signal)).toContain('is 0.0 MiB');
    expect(sizes).toEqual([]);
  });

  it('is nobody’s business when the worker is gone', async () => {
    const over = new AbortController();
    const measure = async (): Promise<typeof NOTHING> => {
      over.abort();
      return { ...NOTHING, bytes: 3 };
    };
    expect(await watchDisk({ places: somePlaces(), measure }, 2, over.signal)).toBeUndefined();
  });
});

describe('what cannot be measured', () => {
  it('is no excuse: too many files to be counted are too many', () => {
    expect(problemOf({ ...NOTHING, endless: true }, MIB, 0)).toBe(
      'hold so many files that they cannot be counted within 120 s',
    );
  });

  it('may be hidden for a moment, as tests do it, and not for longer', () => {
    const usage = { ...NOTHING, hidden: "du: cannot read directory 'x': Permission denied" };
    expect(problemOf(usage, MIB, 59_000)).toBeUndefined();
    expect(problemOf(usage, MIB, 60_000)).toBe(
      "have not let us see how much they hold for 60 s: du: cannot read directory 'x': Permission denied",
    );
  });
});
