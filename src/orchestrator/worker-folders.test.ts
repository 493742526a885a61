import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import type { Ports } from './ports.ts';
import { createWorkerFolders } from './worker-folders.ts';

function openScene(sharesObjects: boolean) {
  const workers = tempFolder();
  const folder = path.join(workers, '0');
  const worktree = path.join(folder, 'tree');
  const removed: string[] = [];
  mkdirSync(worktree, { recursive: true });
  writeFileSync(path.join(worktree, 'a.txt'), 'a');
  const ports = {
    store: { paths: { workers, worker: () => ({ folder, worktree }) } },
    repository: { removeWorktree: async (where: string) => void removed.push(where) },
    launcher: { capabilities: { sharesObjects } },
  } as unknown as Ports;
  return { folders: createWorkerFolders(ports), worktree, removed };
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
});
