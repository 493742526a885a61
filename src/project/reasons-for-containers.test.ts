import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { hasRunInContainers, rememberContainers } from './reasons-for-containers.ts';

it('the state folder of the user records which repositories have run in containers', async () => {
  const home = tempFolder();
  expect(await hasRunInContainers('/a/.git', { HOME: home })).toBe(false);
  await rememberContainers('/a/.git', { HOME: home });
  await rememberContainers('/a/.git', { HOME: home });
  expect(await hasRunInContainers('/a/.git', { HOME: home })).toBe(true);
  expect(await hasRunInContainers('/b/.git', { HOME: home })).toBe(false);
  const folder = path.join(home, '.local/state/mahabharatha/containers');
  expect(readdirSync(folder)).toHaveLength(1);
  expect(statSync(folder).mode & 0o077).toBe(0);
});

it('the state folder is XDG_STATE_HOME, if that is an absolute path', async () => {
  const [home, state] = [tempFolder(), tempFolder()];
  await rememberContainers('/a/.git', { HOME: home, XDG_STATE_HOME: state });
  expect(await hasRunInContainers('/a/.git', { HOME: '/nowhere', XDG_STATE_HOME: state })).toBe(true);
  await rememberContainers('/a/.git', { HOME: home, XDG_STATE_HOME: 'state' });
  expect(await hasRunInContainers('/a/.git', { HOME: home })).toBe(true);
});

it('a record that cannot be read counts as there', async () => {
  const home = tempFolder();
  mkdirSync(path.join(home, '.local'));
  writeFileSync(path.join(home, '.local/state'), '');
  chmodSync(path.join(home, '.local/state'), 0o000);
  expect(await hasRunInContainers('/a/.git', { HOME: home })).toBe(true);
});
