import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { packTar } from './tar.ts';

const pack = (files: Parameters<typeof packTar>[0]): Buffer => Buffer.concat([...packTar(files)]);
const file = (name: string, content: string | Uint8Array = name, mode = 0o644) => ({
  path: name,
  content: typeof content === 'string' ? Buffer.from(content) : content,
  mode,
});

/** Around every border: of a name's room, of a block, of the digits of a record's length. */
const FILES = [
  file('Dockerfile', 'FROM x\n'),
  file('empty', ''),
  file('bin/run.sh', '#!/bin/sh\n', 0o755),
  file('with space/grün ü', 'text'),
  file('block', new Uint8Array(512).fill(1)),
  file('block+1', new Uint8Array(513).fill(2)),
  file('big', new Uint8Array(3_000_000).fill(3), 0o400),
  ...[84, 85, 86, 87, 88, 89, 97, 98, 99, 100, 101, 102, 155, 256, 900, 986, 987, 988, 989, 990, 991, 992, 1500].map(
    (length) => file(longPath(length), `${length}`),
  ),
  file('last', 'the end'),
];

function longPath(length: number): string {
  const folders = 'a-folder-with-a-name/'.repeat(Math.floor((length - 1) / 21));
  return folders + 'x'.repeat(length - folders.length);
}

it('the archive is read by tar', () => {
  const folder = tempFolder();
  const archive = path.join(folder, 'context.tar');
  writeFileSync(archive, pack(FILES));
  const list = execFileSync('tar', ['--list', '--quoting-style=literal', '--file', archive], { encoding: 'utf8' });
  expect(list.trim().split('\n')).toEqual(FILES.map((each) => each.path));
  execFileSync('tar', ['--extract', '--preserve-permissions', '--file', archive, '--directory', folder]);
  for (const { path: name, content, mode } of FILES) {
    const target = path.join(folder, name);
    expect(readFileSync(target).equals(content)).toBe(true);
    expect(statSync(target).mode & 0o7777).toBe(mode);
  }
});

it('the archive is the same for the same files, so that the build cache finds it', () => {
  expect(pack(FILES).equals(pack(FILES))).toBe(true);
  expect(pack([]).length).toBe(1024);
  expect(pack(FILES).length % 512).toBe(0);
});
