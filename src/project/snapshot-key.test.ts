import { expect, it } from 'vitest';
import { digestOf } from '../lib/index.ts';
import { snapshotKey } from './snapshot-key.ts';
import type { SnapshotFacts } from './snapshot-key.ts';

const BASE = {
  info: { id: 'engine', endpoint: '/run/docker.sock' } as SnapshotFacts['base']['info'],
  imageId: 'sha256:1',
  users: { uid: 1000, gid: 1000 },
};
const FACTS: SnapshotFacts = {
  repository: '/r',
  setup: 'npm ci',
  lockFiles: ['100644 blob 1\tpackage-lock.json'],
  settings: ['core.autocrlf=input'],
  copies: [['.env', 10, 1, 0o100600]],
  env: { TOKEN: 'a' },
  base: BASE,
};

it.each<[string, Partial<SnapshotFacts>]>([
  ['another repository', { repository: '/s' }],
  ['another set-up', { setup: 'npm install' }],
  ['no set-up', { setup: undefined }],
  ['other lock files', { lockFiles: [] }],
  ['other settings of git', { settings: ['core.autocrlf=true'] }],
  ['a copied file that was changed', { copies: [['.env', 10, 2, 0o100600]] }],
  ['another environment', { env: { TOKEN: 'b' } }],
  ['a rebuilt image of the same name', { base: { ...BASE, imageId: 'sha256:2' } }],
  ['another engine', { base: { ...BASE, info: { ...BASE.info, id: 'other' } } }],
  ['another user', { base: { ...BASE, users: { uid: 1, gid: 1 } } }],
])('a snapshot with %s has another key', (_what, change) => {
  expect(snapshotKey('s', { ...FACTS, ...change })).not.toBe(snapshotKey('s', FACTS));
});

it('its key is the same for the same facts, and cannot be computed without the secret', () => {
  expect(snapshotKey('s', { ...FACTS })).toBe(snapshotKey('s', FACTS));
  expect(snapshotKey('t', FACTS)).not.toBe(snapshotKey('s', FACTS));
  expect(snapshotKey('s', FACTS)).not.toBe(digestOf(JSON.stringify(FACTS)));
});
