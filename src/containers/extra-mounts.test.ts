import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { extraMounts } from './extra-mounts.ts';

let top: string;
let places: Parameters<typeof extraMounts>[1];

beforeEach(() => {
  top = tempFolder();
  for (const folder of ['home/.ssh', 'home/data/below', 'home/colima', 'other-home/.aws', 'project/.git/hooks'])
    mkdirSync(path.join(top, folder), { recursive: true });
  places = {
    homes: [path.join(top, 'home'), path.join(top, 'other-home')],
    root: path.join(top, 'project'),
    commonDir: path.join(top, 'project/.git'),
    objects: [path.join(top, 'borrowed/objects')],
    engine: path.join(top, 'home/colima/docker.sock'),
    own: [path.join(top, 'home/state/mahabharatha')],
    allowed: [{ folder: top, writable: true }],
    settingsFile: '/home/settings.yaml',
  };
});

type Wish = readonly [source: string, target: string, write?: 'rw'];

function ask(...wishes: readonly Wish[]): ReturnType<typeof extraMounts> {
  const wished = wishes.map(([source, target, write]) => ({ source, target, read_only: write === undefined }));
  return extraMounts(wished, places);
}

const problemOf = async (...wishes: readonly Wish[]): Promise<string> => (await ask(...wishes)).problems.join('\n');

describe('further mounts', () => {
  it('are found from the home folder, from the repository, and by their whole path', async () => {
    const { mounts, problems } = await ask(['~/data', '/data'], ['../home/data', '/same/', 'rw'], [top, '/x/../top']);
    expect(problems).toEqual([expect.stringMatching(/mounts\[2\] .*home\/\.ssh is never mounted, nor what it is in/)]);
    const source = path.join(top, 'home/data');
    expect(mounts).toEqual([
      { kind: 'bind', source, target: '/data', readOnly: true },
      { kind: 'bind', source, target: '/same', readOnly: false },
    ]);
  });

  it.each([
    ['~/.ssh', '.ssh is never'],
    ['~/.ssh/../.ssh', '.ssh is never'],
    ['~', '.ssh is never'],
    ['../other-home/.aws', '.aws is never'],
    ['.', '.git is never'],
    ['.git/hooks', '.git is never'],
    ['/', 'is never'],
    ['/etc', '/etc is never'],
    ['/proc/self', '/proc is never'],
    ['~/nothing', 'there is no such folder or file'],
  ])('from %s are refused: %s', async (source, reason) => {
    expect(await problemOf([source, '/inside'])).toContain(reason);
  });

  it('count by where their links end', async () => {
    symlinkSync(path.join(top, 'home/.ssh'), path.join(top, 'home/data/link'));
    symlinkSync(path.join(top, 'home/data'), path.join(top, 'project/link'));
    expect(await problemOf(['~/data/link', '/inside'])).toContain('.ssh is never');
    expect((await ask(['link', '/inside'])).mounts).toMatchObject([{ source: path.join(top, 'home/data') }]);
  });

  it('are refused in a private folder that is itself a link', async () => {
    mkdirSync(path.join(top, 'dotfiles/aws'), { recursive: true });
    symlinkSync(path.join(top, 'dotfiles/aws'), path.join(top, 'home/.aws'));
    expect(await problemOf(['../dotfiles', '/inside'])).toContain('dotfiles/aws is never mounted');
  });

  it('never lead to an engine, wherever that listens, nor to any other socket', async () => {
    for (const file of [places.engine, path.join(top, 'home/data/agent.sock')]) {
      const server = createServer().listen(file);
      await new Promise((resolve) => server.once('listening', resolve));
      onTestFinished(() => void server.close());
    }
    expect(await problemOf(['~/colima', '/inside'])).toContain('docker.sock is never mounted');
    expect(await problemOf(['~/data/agent.sock', '/inside'])).toContain('no sockets or devices');
  });

  it.each([
    '/',
    '/workspace',
    '/workspace/x',
    '/gitdir/',
    '/objects/0',
    '/home',
    '/run/secrets',
    '/usr/bin',
    '/x/../tmp',
  ])('do not cover %s', async (target) => {
    expect(await problemOf(['~/data', target])).toContain('is not free inside');
  });

  it('do not cover one another', async () => {
    writeFileSync(path.join(top, 'home/file'), '');
    expect(await problemOf(['~/data', '/data'], ['~/file', '/data/file'])).toMatch(
      /^workers\.container\.mounts\[1\] \(~\/file\): \/data\/file is not free inside: \/data is another mount$/,
    );
  });

  it('are not in a folder that workers may write: they could put a link in its place', async () => {
    const around = path.join(top, 'home/data');
    expect(await problemOf(['~/data/below', '/below'], ['~/data', '/data', 'rw'])).toContain(
      `mounts[0] (~/data/below): it is in ${around}, which workers may write`,
    );
    expect(await problemOf(['~/data/below', '/below', 'rw'], ['~/data', '/data'])).toBe('');
  });

  it('are refused when the user has not allowed their folder: the repository alone says nothing about this machine', async () => {
    mkdirSync(path.join(top, 'home/data-too'));
    symlinkSync(path.join(top, 'home/data-too'), path.join(top, 'home/data/out'));
    symlinkSync(path.join(top, 'home/data'), path.join(top, 'home/way-in'));
    places = {
      ...places,
      allowed: [
        { folder: '~/way-in', writable: false },
        { folder: '~/gone', writable: true },
      ],
    };
    const { mounts, problems } = await ask(
      ['~/data', '/a'],
      ['~/data-too', '/b'],
      ['~/data/out', '/c'],
      ['~/way-in/below', '/d'],
    );
    expect(mounts).toMatchObject([{ target: '/a' }, { target: '/d' }]);
    const add = 'if you want that, add it under mounts.allow in /home/settings.yaml';
    const source = path.join(top, 'home/data-too');
    expect(problems).toEqual([
      `workers.container.mounts[1] (~/data-too): you have not allowed any repository to mount ${source}; ${add}`,
      `workers.container.mounts[2] (~/data/out): you have not allowed any repository to mount ${source}; ${add}`,
    ]);
    places = { ...places, allowed: [] };
    expect(await problemOf(['~/data', '/a'])).toContain('you have not allowed any repository');
  });

  it('are written to only where the user has allowed that: the innermost folder counts', async () => {
    const data = { folder: '~/data', writable: true };
    places = { ...places, allowed: [data] };
    expect(await problemOf(['~/data/below', '/a', 'rw'])).toBe('');
    places = { ...places, allowed: [data, { folder: '~/data/below', writable: false }] };
    expect(await problemOf(['~/data/below', '/a', 'rw'])).toMatch(
      /you have allowed \S+below for reading only; .*"writable: true"/,
    );
    expect(await problemOf(['~/data/below', '/a'])).toBe('');
  });

  it.each([
    ['~/.ssh', '.ssh is never'],
    ['~/state', 'state/mahabharatha is never'],
    ['/etc', '/etc is never'],
  ])('from %s are refused also when the user has allowed them', async (folder, reason) => {
    mkdirSync(path.join(top, 'home/state/mahabharatha'), { recursive: true });
    places = { ...places, allowed: [{ folder, writable: true }] };
    expect(await problemOf([folder, '/inside'])).toContain(reason);
  });

  it("may come from /root when that is the user's home", async () => {
    places = { ...places, homes: ['/root', '/root'] };
    expect(await problemOf(['/root', '/inside'])).toContain('is never mounted');
    expect(await problemOf(['/root/no-such-folder', '/inside'])).toContain('there is no such folder');
  });
});
