import { expect, it } from 'vitest';
import { containerIdentity } from './identity.ts';

const NO_USERS = { passwd: '', group: '', subuid: '' };

it.each([
  { uid: 501, gid: 20, becomes: { uid: 501, gid: 20 } },
  { uid: 501, gid: 0, becomes: { uid: 501, gid: 501 } },
  { uid: 0, gid: 0, becomes: { uid: 70_000, gid: 70_000 } },
])('a user $uid:$gid has workers with the same rights, and never with those of root', ({ uid, gid, becomes }) => {
  expect(containerIdentity(uid, gid, NO_USERS)).toEqual(becomes);
});

it.each([
  ['a user', { passwd: 'x:x:1:1::/:/bin/sh\ny:x:70000:9::/:/bin/sh\n' }, 71_000],
  ['a group', { group: 'x:x:70000:\n' }, 71_000],
  ['a range that a user may give to containers', { subuid: 'x:69000:1001\ny:71000:1\nz:100000:65536\n' }, 72_000],
  ['lines that mean nothing', { passwd: '+\n\n#\n', group: '::', subuid: 'x:y\n' }, 70_000],
])('the user of workers is unknown to the system: %s', (_, known, uid) => {
  expect(containerIdentity(0, 0, { ...NO_USERS, ...known }).uid).toBe(uid);
});
