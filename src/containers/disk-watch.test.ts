import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { DiskUsage } from './disk-watch.ts';
import { createDiskMeter, diskUsage, problemOf, watchDisk } from './disk-watch.ts';

const MIB = 1024 ** 2;
const limit = (bytes: number): { bytes: number; setting: string } => ({ bytes, setting: 'workers.container.disk' });
const NOTHING: DiskUsage = { bytes: 0, files: 0, hidden: undefined, endless: false };

function someFolders(): [string, string, string] {
  const top = tempFolder();
  const folders: [string, string, string] = [path.join(top, 'a'), path.join(top, 'b'), path.join(top, 'c')];
  for (const folder of folders) mkdirSync(folder);
  return folders;
}

async function problem(folders: readonly string[], limitBytes: number): Promise<string | undefined> {
  return problemOf(await diskUsage(folders), limitBytes, 0);
}

describe('what a container keeps on the disk', () => {
  it('is the sum of its three folders', async () => {
    const folders = someFolders();
    for (const folder of folders) writeFileSync(path.join(folder, 'file'), Buffer.alloc(MIB, 1));
    expect(await watchDisk(createDiskMeter(folders, 'none'), limit(2.5 * MIB), new AbortController().signal)).toMatch(
      /^killed: its folders hold 3 MiB on the disk, the limit is 2\.5 MiB \(workers\.container\.disk\)$/,
    );
    expect(await problem(folders, 4 * MIB)).toBeUndefined();
  });

  it('counts what takes room: no holes, nothing twice, and nothing in other places', async () => {
    const folders = someFolders();
    const elsewhere = path.join(tempFolder(), 'large');
    writeFileSync(elsewhere, Buffer.alloc(4 * MIB, 1));
    const file = path.join(folders[0], 'file');
    writeFileSync(file, Buffer.alloc(MIB, 1));
    linkSync(file, path.join(folders[0], 'again'));
    symlinkSync(elsewhere, path.join(folders[0], 'link'));
    symlinkSync(path.dirname(elsewhere), path.join(folders[2], 'link'));
    writeFileSync(path.join(folders[0], 'hole'), '');
    truncateSync(path.join(folders[0], 'hole'), 100 * 1024 * MIB);
    expect(await problem(folders, 2 * MIB)).toBeUndefined();
  });

  it.skipIf(process.platform !== 'linux')('counts a file for 4 KiB at least, also an empty one', async () => {
    const folders = someFolders();
    execFileSync('bash', ['-c', 'touch file-{1..600}'], { cwd: folders[0] });
    expect(await problem(folders, 2 * MIB)).toMatch(/hold 60\d files, the limit is 512: one for each 4 KiB of 2 MiB/);
    expect(await problem(folders, 3 * MIB)).toBeUndefined();
  });

  it.each([
    ['when the disk has lost a little since', [700, 690, 689], 'is 640 bytes'],
    ['when what was freed meanwhile is taken again', [700, 900, 889], 'is 640 bytes'],
    ['and not while the disk loses next to nothing', [700, 695, 690], 'not again'],
  ])('is measured again %s', async (_, room, end) => {
    const sizes = [640, 641];
    const measure = async (): Promise<DiskUsage> => ({ ...NOTHING, bytes: sizes.shift() ?? 0 });
    const free = async (): Promise<number> => (room.length > 1 ? room.shift() : room[0]) ?? 0;
    const over = AbortSignal.timeout(6000);
    const watched = await watchDisk({ folders: someFolders(), measure }, limit(640), over, free);
    expect(watched ?? 'not again').toContain(end);
  });

  it('is not measured any more when the container is gone', async () => {
    const over = new AbortController();
    const measure = async (): Promise<DiskUsage> => {
      over.abort();
      return { ...NOTHING, bytes: 3 };
    };
    expect(await watchDisk({ folders: someFolders(), measure }, limit(2), over.signal)).toBeUndefined();
  });
});

describe('what cannot be measured', () => {
  it('counts as too much when there are too many files to be counted', () => {
    expect(problemOf({ ...NOTHING, endless: true }, MIB, 0)).toBe(
      'hold so many files that they cannot be counted within 120 s',
    );
  });

  it('is looked at again soon: a folder that is closed for moments hides nothing', async () => {
    let looks = 0;
    const measure = async (): Promise<DiskUsage> => {
      looks += 1;
      return { ...NOTHING, hidden: 'Permission denied' };
    };
    const over = AbortSignal.timeout(6000);
    await watchDisk({ folders: someFolders(), measure }, limit(MIB), over, async () => MIB);
    expect(looks).toBeGreaterThan(1);
  });

  it('may be hidden for a moment, as tests do, and not for longer', () => {
    const usage = { ...NOTHING, hidden: "du: cannot read directory 'x': Permission denied" };
    expect(problemOf(usage, MIB, 59_000)).toBeUndefined();
    expect(problemOf(usage, MIB, 60_000)).toBe(
      "have not let us see how much they hold for 60 s: du: cannot read directory 'x': Permission denied",
    );
  });
});
