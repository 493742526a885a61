import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { mountSmallDisk } from '../support/small-disk.ts';

const disk = mountSmallDisk(4);

let project: TestProject;
let onDisk: TestProject;

beforeEach(async () => {
  project = await createProject();
  if (disk === undefined) return;
  const folder = path.join(disk.folder, 'repository');
  mkdirSync(folder);
  onDisk = project.at(folder);
  onDisk.git('init', '--quiet', '--initial-branch=main');
  onDisk.git('commit', '--quiet', '--allow-empty', '--message', 'first');
});
afterEach(async () => {
  disk?.remove();
  await project.remove();
});

it.skipIf(disk === undefined)(
  'a disk that cannot be written is named by init and doctor, without words of a run',
  async () => {
    try {
      writeFileSync(path.join(disk!.folder, 'fill'), Buffer.alloc(8 * 1024 * 1024));
    } catch {
      // Now it is full.
    }
    const init = await onDisk.cli('init');
    expect(init.exit).toBe(4);
    expect(init.stderr).toMatch(/config\.yaml cannot be written: ENOSPC: the disk is full\.[^]*Make room on the disk/);
    expect(existsSync(path.join(onDisk.folder, '.mahabharatha/config.yaml'))).toBe(false);
    expect(init.stderr).not.toContain('--resume');

    execFileSync('mount', ['-o', 'remount,ro', disk!.folder]);
    const { exit, stdout } = await onDisk.cli('doctor');
    expect(exit).toBe(4);
    expect(stdout).toMatch(/✗ disk +\S+ cannot be written: EROFS/);
  },
);
