import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { writeFileAtomic } from './atomic-file.ts';
import { watchFolder } from './watch-folder.ts';

function watching(folder: string): { readonly calls: () => number; close(): void } {
  let calls = 0;
  const watcher = watchFolder(folder, () => calls++);
  onTestFinished(() => watcher.close());
  return { calls: () => calls, close: () => watcher.close() };
}

it('a watch calls back when a file is made, and each time it is replaced', async () => {
  const folder = tempFolder();
  const watcher = watching(folder);
  for (const text of ['one', 'two', 'three']) {
    const before = watcher.calls();
    await writeFileAtomic(path.join(folder, 'status.json'), text, { durable: false });
    await waitUntil('the change is seen', () => watcher.calls() > before);
  }
});

it('a closed watch calls back no more', async () => {
  const folder = tempFolder();
  const [closed, open] = [watching(folder), watching(folder)];
  closed.close();
  closed.close();
  writeFileSync(path.join(folder, 'file'), 'x');
  await waitUntil('the other has seen it', () => open.calls() > 0);
  expect(closed.calls()).toBe(0);
});

it('a watch does not fail when its folder is missing or removed', async () => {
  const folder = tempFolder();
  const nothing = watching(path.join(folder, 'nothing'));
  const watcher = watching(folder);
  rmSync(folder, { recursive: true });
  await waitUntil('the end of the folder is seen', () => watcher.calls() > 0);
  expect(nothing.calls()).toBe(0);
});
