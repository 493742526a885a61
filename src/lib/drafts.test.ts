import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { removeLockDrafts } from './drafts.ts';
import { ownIdentity } from './process-tree.ts';

const newLock = (): string => path.join(mkdtempSync(path.join(tmpdir(), 'mahabharatha-drafts-')), 'a.lock');
const TOKEN = '0123456789abcdef';

it('an empty draft of a lock, as a loss of power leaves it, is removed', async () => {
  const lock = newLock();
  writeFileSync(`${lock}.${TOKEN}`, '');
  await removeLockDrafts(lock);
  expect(existsSync(`${lock}.${TOKEN}`)).toBe(false);
});

it('a draft that is just being written stays', async () => {
  const lock = newLock();
  writeFileSync(`${lock}.${TOKEN}`, '');
  const holder = JSON.stringify({ ...(await ownIdentity()), host: hostname(), since: '', token: TOKEN });
  const writing = setTimeout(() => writeFileSync(`${lock}.${TOKEN}`, holder), 50);
  await removeLockDrafts(lock);
  clearTimeout(writing);
  expect(existsSync(`${lock}.${TOKEN}`)).toBe(true);
});
