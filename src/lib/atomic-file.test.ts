import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { copyUntrusted, makeIgnoredFolder, readUntrusted, readUntrustedNow, writeFileAtomic } from './atomic-file.ts';

describe('replacing a file', () => {
  it.each([true, false])('never shows a reader half of the text (durable: %s)', async (durable) => {
    const file = path.join(tempFolder(), 'state.json');
    const writer = startNode(
      `import { writeFileAtomic } from './lib/index.js';
       for (let n = 1; ; n++) {
         const mark = String(n).padStart(6, '0');
         const text = mark + '|' + 'x'.repeat((n * 997) % 50_000) + '|' + mark;
         await writeFileAtomic(process.env.FILE, text, { durable: ${durable} });
       }`,
      { FILE: file },
    );
    await waitUntil('the file is there', () => existsSync(file));
    const seen = new Set<string>();
    while (seen.size < 200) {
      const text = readFileSync(file, 'utf8');
      const mark = text.slice(-6);
      expect(text.slice(0, 7)).toBe(`${mark}|`);
      expect(text).toHaveLength(14 + ((Number(mark) * 997) % 50_000));
      seen.add(mark);
      await turn();
    }
    expect(writer.output()).toBe('');
  });

  it('accepts text and bytes, and sets the wanted mode', async () => {
    const file = path.join(tempFolder(), 'file');
    await writeFileAtomic(file, new Uint8Array([1, 2, 255]), { durable: false, mode: 0o600 });
    expect([...readFileSync(file)]).toEqual([1, 2, 255]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await writeFileAtomic(file, '', { durable: true });
    expect(readFileSync(file, 'utf8')).toBe('');
  });

  it('replaces a link, and not its target', async () => {
    const folder = tempFolder();
    writeFileSync(path.join(folder, 'precious'), 'precious');
    symlinkSync('precious', path.join(folder, 'link'));
    await writeFileAtomic(path.join(folder, 'link'), 'new', { durable: false });
    expect(readFileSync(path.join(folder, 'precious'), 'utf8')).toBe('precious');
    expect(readFileSync(path.join(folder, 'link'), 'utf8')).toBe('new');
  });

  it('leaves no draft behind when it fails', async () => {
    const folder = tempFolder();
    const taken = path.join(folder, 'taken');
    mkdirSync(path.join(taken, 'sub'), { recursive: true });
    await expect(writeFileAtomic(taken, 'text', { durable: true })).rejects.toThrow('EISDIR');
    expect(readdirSync(folder)).toEqual(['taken']);
    await expect(writeFileAtomic(path.join(folder, 'not/there'), 'text', { durable: true })).rejects.toThrow('ENOENT');
  });

  it('by many writers at once leaves the whole text of one of them', async () => {
    const folder = tempFolder();
    const file = path.join(folder, 'file');
    const texts = Array.from({ length: 20 }, (_, n) => String(n).repeat(10_000));
    await Promise.all(texts.map((text) => writeFileAtomic(file, text, { durable: false })));
    expect(texts).toContain(readFileSync(file, 'utf8'));
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

const STRANGE: readonly (readonly [string, (file: string) => void])[] = [
  ['a symbolic link', (file) => symlinkSync('/etc/passwd', file)],
  ['a link to nowhere', (file) => symlinkSync('/nowhere', file)],
  ['a directory', (file) => mkdirSync(file)],
  ['a pipe without a writer', (file) => void execFileSync('sh', ['-c', 'mkfifo "$0"', file])],
  ['a socket', (file) => void spawnSync(process.execPath, ['-e', SOCKET, file])],
  ['a link to a device', (file) => symlinkSync('/dev/zero', file)],
];
const SOCKET = 'require("node:net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';

const READERS: readonly [string, (file: string, maxBytes: number) => Promise<string | undefined>][] = [
  ['with promises', readUntrusted],
  ['at once', async (file, maxBytes) => readUntrustedNow(file, maxBytes)],
];

describe.each(READERS)('reading an untrusted file %s', (_, read) => {
  it('returns the text of a plain file, up to the limit', async () => {
    const file = path.join(tempFolder(), 'file');
    writeFileSync(file, 'grün');
    expect(await read(file, 5)).toBe('grün');
    await expect(read(file, 4)).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
      facts: { file, reason: 'it has 5 bytes, the limit is 4' },
    });
    writeFileSync(file, '');
    expect(await read(file, 0)).toBe('');
  });

  it('returns undefined when nothing is there', async () => {
    const folder = tempFolder();
    writeFileSync(path.join(folder, 'file'), '');
    expect(await read(path.join(folder, 'nothing'), 10)).toBeUndefined();
    expect(await read(path.join(folder, 'nothing/at/all'), 10)).toBeUndefined();
    expect(await read(path.join(folder, 'file/below'), 10)).toBeUndefined();
  });

  it.each(STRANGE)('refuses %s without waiting', async (_, put) => {
    const file = path.join(tempFolder(), 'status.json');
    put(file);
    await expect(read(file, 1000)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', facts: { file } });
  });

  it.skipIf(process.getuid?.() === 0)('says that the right to read is missing', async () => {
    const file = path.join(tempFolder(), 'file');
    writeFileSync(file, 'x');
    chmodSync(file, 0);
    await expect(read(file, 1000)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

function places(): { file: string; target: string } {
  const folder = tempFolder();
  return { file: path.join(folder, 'work.bundle'), target: path.join(folder, 'copy') };
}

describe('copying an untrusted file', () => {
  it.each([0, 1, 1024 ** 2 - 1, 1024 ** 2, 3_000_001])(
    'writes the same %i bytes, readable for the user alone',
    async (size) => {
      const { file, target } = places();
      writeFileSync(file, Buffer.alloc(size, 'some bytes that are no zeros'));
      writeFileSync(target, 'an old copy');
      expect(await copyUntrusted(file, target, size)).toBe(true);
      expect(readFileSync(target).equals(readFileSync(file))).toBe(true);
      expect(statSync(target).mode & 0o777).toBe(0o600);
    },
  );

  it('uses no more disk space than the original', async () => {
    const { file, target } = places();
    writeFileSync(file, 'the beginning');
    truncateSync(file, 64 * 1024 ** 2);
    writeFileSync(file, 'the end', { flag: 'a' });
    expect(await copyUntrusted(file, target, 1024 ** 3)).toBe(true);
    expect(readFileSync(target).equals(readFileSync(file))).toBe(true);
    expect(statSync(target).blocks * 512).toBeLessThan(8 * 1024 ** 2);
  });

  it('refuses a file over the limit, and leaves no copy', async () => {
    const { file, target } = places();
    writeFileSync(file, 'four');
    await expect(copyUntrusted(file, target, 3)).rejects.toThrow('it has 4 bytes, the limit is 3');
    expect(existsSync(target)).toBe(false);
  });

  it('returns false when nothing is there', async () => {
    const { file, target } = places();
    expect(await copyUntrusted(file, target, 10)).toBe(false);
  });

  it.each(STRANGE)('refuses %s without waiting', async (_, put) => {
    const { file, target } = places();
    put(file);
    await expect(copyUntrusted(file, target, 1000)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    expect(existsSync(target)).toBe(false);
  });

  it('replaces a link at the target path, and not the target of that link', async () => {
    const { file, target } = places();
    const precious = `${target}-precious`;
    writeFileSync(precious, 'precious');
    symlinkSync(precious, target);
    writeFileSync(file, 'new');
    await copyUntrusted(file, target, 10);
    expect([readFileSync(target, 'utf8'), readFileSync(precious, 'utf8')]).toEqual(['new', 'precious']);
  });
});

describe('a folder that git ignores', () => {
  it('is made with its parents, and stays unchanged when it is there', async () => {
    const folder = path.join(tempFolder(), 'a', 'b');
    await makeIgnoredFolder(folder);
    expect(readFileSync(path.join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    // A start that was killed may have left it empty.
    writeFileSync(path.join(folder, '.gitignore'), '');
    await makeIgnoredFolder(folder);
    expect(readFileSync(path.join(folder, '.gitignore'), 'utf8')).toBe('*\n');
    writeFileSync(path.join(folder, '.gitignore'), 'mine\n');
    await makeIgnoredFolder(folder);
    expect(readFileSync(path.join(folder, '.gitignore'), 'utf8')).toBe('mine\n');
  });
});
