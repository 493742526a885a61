import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { libErrors } from '../lib/index.ts';
import type { Ports } from './ports.ts';
import { createWorkerFolders } from './worker-folders.ts';

function openScene(sharesObjects: boolean, failures: Error[] = []) {
  const workers = tempFolder();
  const folder = path.join(workers, '0');
  const worktree = path.join(folder, 'tree');
  const removed: string[] = [];
  mkdirSync(worktree, { recursive: true });
  writeFileSync(path.join(worktree, 'a.txt'), 'a');
  const ports = {
    store: {
      paths: { workers, copies: path.join(workers, 'copies'), worker: () => ({ folder, worktree, gitDir: folder }) },
      removeWorkers: async () => rmSync(workers, { recursive: true }),
    },
    repository: {
      removeWorktrees: async (where: readonly string[]) => {
        const error = failures.shift();
        if (error !== undefined) throw error;
        removed.push(...where);
      },
      repairRecords: async () => [],
    },
    launcher: { capabilities: { sharesObjects } },
  } as unknown as Ports;
  return { folders: createWorkerFolders(ports), workers, worktree, removed };
}

describe('the folders of a worker that has ended', () => {
  it('are out of the way at once, so that the next worker of its number can have its own there', async () => {
    const { folders, worktree, removed } = openScene(false);
    await folders.discard(0);
    expect(existsSync(worktree)).toBe(false);
    expect(removed, 'the next checkout there is not removed beside its start').toEqual([]);
  });

  it('have a record in the repository when they were a worktree of it, and that goes too', async () => {
    const { folders, worktree, removed } = openScene(true);
    await folders.discard(0);
    expect(removed).toEqual([worktree]);
  });

  it('are cleared at the end although the disk or git fails at first', async () => {
    const failures = [Object.assign(new Error('EIO: i/o error, link'), { code: 'EIO' }), new Error('git has failed')];
    const { folders, workers, worktree, removed } = openScene(true, failures);
    await folders.clear();
    expect(removed).toEqual([worktree]);
    expect(existsSync(workers)).toBe(false);
  });

  it('stay when another process keeps the lock of the worktrees: that was waited for already', async () => {
    const busy = libErrors.LOCK_BUSY({ file: '/lock', pid: 7, waitedMs: 120_000 });
    const { folders, workers } = openScene(true, [busy]);
    await expect(folders.clear()).rejects.toBe(busy);
    expect(existsSync(workers)).toBe(true);
  });
});
