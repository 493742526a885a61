import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

interface SmallDisk {
  readonly folder: string;
  remove(): void;
}

/** A file system of its own, with so much room; undefined for those who may not mount one. */
export function mountSmallDisk(mebibytes: number): SmallDisk | undefined {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-')));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    return undefined;
  }
  return {
    folder,
    remove: () => {
      // A process that has just ended may hold it for a moment.
      execFileSync('umount', ['--lazy', folder]);
      rmdirSync(folder);
    },
  };
}
