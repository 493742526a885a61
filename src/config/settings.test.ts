import { symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { loadSettings } from './load.ts';

let file: string;

beforeEach(() => {
  file = path.join(tempFolder(), 'settings.yaml');
});

const load = (text: string): ReturnType<typeof loadSettings> => {
  writeFileSync(file, text);
  return loadSettings(file);
};

describe("the user's own settings", () => {
  it('allow nothing when there are none', async () => {
    const nothing = { mounts: { allow: [] } };
    expect(await loadSettings(file)).toEqual(nothing);
    expect(await load('')).toEqual(nothing);
  });

  it('name folders that repositories may mount, read-only by default, also when the file is a link', async () => {
    await load('mounts: { allow: [~/data, { folder: /srv/scratch, writable: true }, { folder: /srv/in }] }\n');
    const link = path.join(tempFolder(), 'link.yaml');
    symlinkSync(file, link);
    expect((await loadSettings(link)).mounts.allow).toEqual([
      { folder: '~/data', writable: false },
      { folder: '/srv/scratch', writable: true },
      { folder: '/srv/in', writable: false },
    ]);
  });

  it.each([
    ['mounts: { allow: [data] }', 'mounts.allow[0]'],
    ['mounts: { allow: [{ folder: ../x }] }', 'mounts.allow[0]'],
    ['mounts: { alow: [] }', 'mounts.alow: there is no such setting; did you mean "allow"?'],
    ['mounts: { allow: [~other/x] }', 'mounts.allow[0]'],
  ])('%s is refused', async (text, problem) => {
    await expect(load(text)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(problem),
    });
  });
});
