import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { openLogFile } from './log-file.ts';
import { followLines, lastLines, olderFile } from './read-log.ts';

const ROOMY = { limitBytes: 1_000_000 };

function newFile(): string {
  return path.join(tempFolder(), 'worker.jsonl');
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

async function written(file: string, chunks: readonly (string | Buffer)[], options = ROOMY): Promise<string> {
  const log = openLogFile(file, options);
  for (const chunk of chunks) log.write(chunk);
  await log.close();
  return read(file);
}

it('adds what it is given, in pieces of any size, to the file', async () => {
  const file = newFile();
  writeFileSync(file, 'before\n');
  const bytes = Buffer.from('grün\n日本\n');
  const chunks = ['one\ntw', 'o\n', '', ...Array.from(bytes, (byte) => Buffer.of(byte)), 'half'];
  expect(await written(file, chunks)).toBe('before\none\ntwo\ngrün\n日本\nhalf\n');
});

it('begins a new line when a killed writer has left half of one', async () => {
  const file = newFile();
  writeFileSync(file, 'one\nhal');
  expect(await written(file, ['two\n'])).toBe('one\nhal\ntwo\n');
});

it('cuts a line without an end, so that it does not grow in memory', async () => {
  const text = await written(newFile(), [...Array.from({ length: 50 }, () => 'x'.repeat(100_000)), '\nend\n'], {
    limitBytes: 20_000_000,
  });
  expect(text.replaceAll('\n', '')).toBe(`${'x'.repeat(5_000_000)}end`);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(1_300_000);
});

it('keeps the newest half to whole of its limit, cut at line ends', async () => {
  const file = newFile();
  const lines = Array.from({ length: 1000 }, (_, n) => `line ${n}\n`);
  for (const chunks of [lines, [lines.join('')]]) {
    rmSync(file, { force: true });
    rmSync(olderFile(file), { force: true });
    await written(file, chunks, { limitBytes: 1000 });
    const [older, newest] = [read(olderFile(file)), read(file)];
    const kept = older + newest;
    expect(lines.join('').endsWith(kept)).toBe(true);
    expect(kept).toMatch(/^line \d+\n/);
    expect(Math.max(older.length, newest.length)).toBeLessThanOrEqual(500);
    expect(older.length).toBeGreaterThan(480);
  }
});

it('does not cut a line that is longer than the limit of the file', async () => {
  const file = newFile();
  const long = `${'x'.repeat(5000)}\n`;
  expect(await written(file, ['one\n', long], { limitBytes: 100 })).toBe(long);
  expect(read(olderFile(file))).toBe('one\n');
  expect(await written(file, ['two\n', 'three\n'], { limitBytes: 100 })).toBe('two\nthree\n');
  expect(read(olderFile(file))).toBe(long);
});

it('can be followed without a gap over many new files', async () => {
  const file = newFile();
  const log = openLogFile(file, { limitBytes: 4000 });
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const seen: string[] = [];
  const { place } = await lastLines(file, 10, () => true);
  const end = followLines(file, place, (line) => seen.push(line), controller.signal);
  const expected = Array.from({ length: 600 }, (_, n) => `line ${n}`);
  for (const [n, line] of expected.entries()) {
    log.write(`${line}\n`);
    // Never more than one new file between two looks.
    if (n % 150 === 149) await waitUntil(`${n} lines are seen`, () => seen.length === n + 1);
  }
  await log.close();
  controller.abort();
  await end;
  expect(seen).toEqual(expected);
  expect(statSync(olderFile(file)).size).toBeGreaterThan(0);
});

it('keeps its lines until the folder exists', async () => {
  const file = path.join(tempFolder(), 'missing', 'worker.jsonl');
  const log = openLogFile(file, ROOMY);
  log.write('one\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  mkdirSync(path.dirname(file));
  log.write('two\n');
  await waitUntil('both are there', () => read(file) === 'one\ntwo\n');
  await log.close();
});

it('gives up when it is closed and nothing can be written', async () => {
  const folder = tempFolder();
  expect(await written(path.join(folder, 'missing', 'worker.jsonl'), ['one\n', 'half'])).toBe('');
  const late = openLogFile(path.join(folder, 'late'), ROOMY);
  await late.close();
  late.write('too late\n');
  await late.close();
  expect(read(path.join(folder, 'late'))).toBe('');
});

it('leaves out lines that do not fit into memory while nothing can be written, and says so in their place', async () => {
  const folder = path.join(tempFolder(), 'missing');
  const file = path.join(folder, 'worker.jsonl');
  const log = openLogFile(file, { limitBytes: 100_000_000 });
  const megabyte = `${'x'.repeat(999)}\n`.repeat(1000);
  log.write('first\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (let n = 0; n < 20; n++) log.write(megabyte);
  mkdirSync(folder);
  await waitUntil('the note is there', () => read(file).includes('left out'));
  log.write('last\n');
  await log.close();
  const lines = read(file).split('\n');
  expect(lines[0]).toBe('first');
  expect(lines).toHaveLength(1 + 8000 + 1 + 1 + 1);
  expect(lines[8001]).toMatch(/^… 12000 lines were left out here: ENOENT/);
  expect(lines[8002]).toBe('last');
});

it('takes a single piece of any size, and goes on after it', async () => {
  const [file, piece] = [newFile(), `${'x'.repeat(999)}\n`.repeat(10_000)];
  const log = openLogFile(file, { limitBytes: 100_000_000 });
  log.write(piece);
  await waitUntil('it is written', () => read(file).length === piece.length);
  log.write('later\n');
  await log.close();
  expect(read(file).slice(piece.length)).toBe('later\n');
});

it('loses nothing of many single lines', async () => {
  const file = newFile();
  const log = openLogFile(file, { limitBytes: 100_000_000 });
  for (let turn = 0; turn < 100; turn++) {
    for (let n = 0; n < 500; n++) log.write(`${'x'.repeat(98)}\n`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await log.close();
  expect(read(file)).toHaveLength(100 * 500 * 99);
});

it('goes on in a new file when its own was removed, with the folder or without', async () => {
  const folder = path.join(tempFolder(), 'logs');
  const file = path.join(folder, 'worker.jsonl');
  mkdirSync(folder);
  const log = openLogFile(file, ROOMY);
  for (const text of ['one\n', 'two\n', 'three\n']) {
    log.write(text);
    await waitUntil(`${text} is there`, () => read(file) === text);
    if (text === 'one\n') rmSync(file);
    else rmSync(folder, { recursive: true });
    mkdirSync(folder, { recursive: true });
  }
  await log.close();
});
