import { expect, it } from 'vitest';
import { uidOf, containerIdentity } from './identity.ts';

const NO_USERS = { passwd: '', group: '', subuid: '' };

it.each([
  { uid: 501, gid: 20, becomes: { uid: 501, gid: 20, apart: false } },
  { uid: 501, gid: 0, becomes: { uid: 501, gid: 501, apart: false } },
])('a user $uid:$gid has workers with the same rights, and never with those of root', ({ uid, gid, becomes }) => {
  expect(containerIdentity(uid, gid, NO_USERS)).toEqual(becomes);
  expect([0, 7].map((worker) => uidOf(becomes, worker))).toEqual([501, 501]);
});

it('only the workers of root are users of their own', () => {
  const who = containerIdentity(0, 0, NO_USERS);
  expect(who).toEqual({ uid: 70_000, gid: 70_000, apart: true });
  expect([0, 63].map((worker) => uidOf(who, worker))).toEqual([70_001, 70_064]);
});

it.each([
  ['a user', { passwd: 'x:x:1:1::/:/bin/sh\ny:x:70064:9::/:/bin/sh\n' }, 71_000],
  ['a group', { group: 'x:x:70000:\n' }, 71_000],
  ['a range that a user may give to containers', { subuid: 'x:69000:1001\ny:71064:1\nz:100000:65536\n' }, 72_000],
  ['lines that mean nothing', { passwd: '+\n\n#\n', group: '::', subuid: 'x:y\n' }, 70_000],
])('the users of workers are unknown to the system: %s', (_, known, uid) => {
  expect(containerIdentity(0, 0, { ...NO_USERS, ...known }).uid).toBe(uid);
});
