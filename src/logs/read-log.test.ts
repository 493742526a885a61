import { appendFileSync, openSync, renameSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { MockInstance } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { followLines, lastLines, olderFile } from './read-log.ts';
import type { LogPlace } from './read-log.ts';

const BLOCK = 65_536;
const all: (line: string) => boolean = () => true;

function logFile(content: string | Buffer): string {
  const file = path.join(tempFolder(), 'worker.jsonl');
  writeFileSync(file, content);
  return file;
}

async function lastOf(content: string | Buffer, count: number, matches = all): Promise<string[]> {
  return (await lastLines(logFile(content), count, matches)).lines;
}

/** How many bytes were copied: a count, because tests must not depend on speed. */
function copiedBy(concat: MockInstance<typeof Buffer.concat>): number {
  return concat.mock.results.reduce((sum, { value }) => sum + (Buffer.isBuffer(value) ? value.length : 0), 0);
}

describe('the last lines of a log', () => {
  it('are the last, oldest first', async () => {
    expect(await lastOf('one\ntwo\nthree\n', 2)).toEqual(['two', 'three']);
    expect(await lastOf('one\ntwo\nthree\n', 100)).toEqual(['one', 'two', 'three']);
    expect(await lastOf('one\n\n\ntwo\n', 100)).toEqual(['one', 'two']);
    expect(await lastOf('one\n', 0)).toEqual([]);
    expect(await lastOf('', 10)).toEqual([]);
  });

  it('are none when there is no file', async () => {
    expect(await lastLines(path.join(tempFolder(), 'nothing'), 10, all)).toEqual({
      lines: [],
      place: { inode: undefined, offset: 0 },
    });
  });

  it('are the last that match', async () => {
    const text = Array.from({ length: 50_000 }, (_, n) => `${n}\n`).join('');
    expect(await lastOf(text, 3, (line) => line.endsWith('000'))).toEqual(['47000', '48000', '49000']);
    expect(await lastOf(text, 3, (line) => line === '7')).toEqual(['7']);
    expect(await lastOf(text, 3, () => false)).toEqual([]);
  });

  it('leave out text without a line end, and say where it begins', async () => {
    const file = logFile('one\ntwo\nhal');
    expect(await lastLines(file, 10, all)).toMatchObject({ lines: ['one', 'two'], place: { offset: 8 } });
    expect(await lastLines(file, 0, all)).toMatchObject({ lines: [], place: { offset: 8 } });
    expect(await lastLines(logFile('no end'), 10, all)).toMatchObject({ lines: [], place: { offset: 0 } });
  });

  it('say where half a line begins, also when it ends within a character', async () => {
    const [half] = [Buffer.from('grün').subarray(0, 3)];
    const file = logFile(Buffer.concat([Buffer.from('one\n'), half ?? Buffer.alloc(0)]));
    expect(await lastLines(file, 10, all)).toMatchObject({ lines: ['one'], place: { offset: 4 } });
  });

  it.each([-3, -2, -1, 0, 1, 2, 3])('are whole when a block ends %i bytes from a line end', async (shift) => {
    const tail = `${'x'.repeat(BLOCK + shift - 2)}\n`;
    expect(await lastOf(`first\nsecond\n${tail}`, 3)).toEqual(['first', 'second', tail.trim()]);
    expect(await lastOf(`first\n\n${tail}\n`, 2)).toEqual(['first', tail.trim()]);
  });

  it('are read once, also when one of them is 30 MB long', async () => {
    const file = logFile(`first\n${'x'.repeat(30_000_000)}\nlast\n`);
    const concat = vi.spyOn(Buffer, 'concat');
    const { lines } = await lastLines(file, 2, all);
    expect(lines.map((line) => line.length)).toEqual([30_000_000, 4]);
    expect(copiedBy(concat)).toBeLessThan(100_000_000);
  });

  it('are whole when a block ends within a character', async () => {
    for (let shift = 0; shift < 4; shift++) {
      const line = `${'🎉'.repeat(BLOCK / 4)}${'x'.repeat(shift)}`;
      expect(await lastOf(`first\n${line}\nlast\n`, 3)).toEqual(['first', line, 'last']);
    }
  });

  it('may be longer than many blocks, and many', async () => {
    const lines = [...Array.from({ length: 9000 }, (_, n) => `line ${n} ü`), 'x'.repeat(BLOCK * 5), 'last'];
    const text = `${lines.join('\n')}\n`;
    expect(await lastOf(text, 1)).toEqual(['last']);
    expect(await lastOf(text, 20_000)).toEqual(lines);
    expect(await lastOf(`${'\n'.repeat(BLOCK * 4)}end\n`, 5)).toEqual(['end']);
  });
});

/** A log that was renamed, and the new one if it has begun. */
function twoFiles(older: string, newest?: string): string {
  const file = logFile(older);
  renameSync(file, olderFile(file));
  if (newest !== undefined) writeFileSync(file, newest);
  return file;
}

describe('the last lines of a log that was renamed and begun anew', () => {
  it('come from the older file too when the newest has too few', async () => {
    const file = twoFiles('one\ntwo\nthree\n', 'four\nfive\n');
    const ofCount = async (count: number): Promise<string[]> => (await lastLines(file, count, all)).lines;
    expect(await ofCount(1)).toEqual(['five']);
    expect(await ofCount(2)).toEqual(['four', 'five']);
    expect(await ofCount(4)).toEqual(['two', 'three', 'four', 'five']);
    expect(await ofCount(Number.POSITIVE_INFINITY)).toHaveLength(5);
    expect((await lastLines(file, 2, (line) => line.startsWith('t'))).lines).toEqual(['two', 'three']);
  });

  it('end in the newest, also when that is empty', async () => {
    const file = twoFiles('one\ntwo\n', '');
    expect(await lastLines(file, 1, all)).toEqual({ lines: ['two'], place: placeIn(file, 0) });
  });

  it('are those of the older file while there is no new one', async () => {
    const file = twoFiles('one\ntwo\n');
    const place = placeIn(olderFile(file), 8);
    expect(await lastLines(file, 1, all)).toEqual({ lines: ['two'], place });
    expect(await lastLines(file, 0, all)).toEqual({ lines: [], place });
  });
});

/** Collects lines from that place on, until the test is over. */
function follow(file: string, from: LogPlace = { inode: undefined, offset: 0 }): string[] {
  const lines: string[] = [];
  const controller = new AbortController();
  const end = followLines(file, from, (line) => lines.push(line), controller.signal);
  onTestFinished(async () => {
    controller.abort();
    await end;
  });
  return lines;
}

function placeIn(file: string, offset: number): LogPlace {
  return { inode: statSync(file, { bigint: true }).ino, offset };
}

function until(lines: readonly string[], count: number): Promise<void> {
  return waitUntil(`${count} lines have come`, () => lines.length >= count);
}

describe('following a log', () => {
  it('shows what is appended, from the offset on', async () => {
    const file = logFile('old\nnew\n');
    const lines = follow(file, placeIn(file, 4));
    await until(lines, 1);
    appendFileSync(file, 'newer\n\nnewest\n');
    await until(lines, 3);
    expect(lines).toEqual(['new', 'newer', 'newest']);
  });

  it('goes on where the last lines ended, without a missing or repeated line', async () => {
    for (const count of [0, 1, 10]) {
      const file = logFile('one\ntwo\nhal');
      const lines = follow(file, (await lastLines(file, count, all)).place);
      appendFileSync(file, 'f\n');
      await until(lines, 1);
      expect(lines).toEqual(['half']);
    }
  });

  it('never shows half a line, nor half a character', async () => {
    const file = logFile('');
    const lines = follow(file);
    const descriptor = openSync(file, 'a');
    const text = Buffer.from('grün 日本\nsecond 🎉\n');
    for (const byte of text) {
      writeSync(descriptor, Buffer.from([byte]));
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await until(lines, 2);
    expect(lines).toEqual(['grün 日本', 'second 🎉']);
  });

  it('shows a file that comes later', async () => {
    const file = path.join(tempFolder(), 'later.jsonl');
    const lines = follow(file);
    await new Promise((resolve) => setTimeout(resolve, 50));
    writeFileSync(file, 'here\n');
    await until(lines, 1);
    expect(lines).toEqual(['here']);
  });

  it('begins again when the file was cut', async () => {
    const file = logFile('one\ntwo\nhalf a li');
    const lines = follow(file);
    await until(lines, 2);
    writeFileSync(file, 'new\n');
    await until(lines, 3);
    expect(lines).toEqual(['one', 'two', 'new']);
  });

  it('shows a line that is longer than many blocks', async () => {
    const file = logFile(`${'ü'.repeat(BLOCK * 3)}\nshort\n`);
    const lines = follow(file);
    await until(lines, 2);
    expect(lines.map((line) => line.length)).toEqual([BLOCK * 3, 5]);
  });

  it('ends at once when it is aborted, also before it began', async () => {
    const file = logFile('one\n');
    const lines: string[] = [];
    await followLines(file, placeIn(file, 0), (line) => lines.push(line), AbortSignal.abort());
    expect(lines).toEqual([]);
  });

  it('loses no line when the file is renamed and begun anew', async () => {
    const file = logFile('one\n');
    const lines = follow(file);
    await until(lines, 1);
    appendFileSync(file, 'two\n');
    renameSync(file, olderFile(file));
    writeFileSync(file, 'three\n');
    await until(lines, 3);
    renameSync(file, olderFile(file));
    appendFileSync(olderFile(file), 'four\n');
    await until(lines, 4);
    writeFileSync(file, 'five\n');
    await until(lines, 5);
    expect(lines).toEqual(['one', 'two', 'three', 'four', 'five']);
  });

  it('loses no line when that happens twice between two looks, or before it begins', async () => {
    const file = logFile('one\ntwo\n');
    const { place } = await lastLines(file, 1, all);
    appendFileSync(file, 'three\n');
    renameSync(file, olderFile(file));
    writeFileSync(file, 'four\n');
    const lines = follow(file, place);
    await until(lines, 2);
    // On some file systems time stamps are no finer than this.
    await new Promise((resolve) => setTimeout(resolve, 20));
    appendFileSync(file, 'five\n');
    renameSync(file, olderFile(file));
    writeFileSync(file, 'six\n');
    await new Promise((resolve) => setTimeout(resolve, 20));
    appendFileSync(file, 'seven\n');
    renameSync(file, olderFile(file));
    writeFileSync(file, 'eight\n');
    await until(lines, 6);
    expect(lines).toEqual(['three', 'four', 'five', 'six', 'seven', 'eight']);
  });

  it('does not take an older file for a newer one when the log was removed and begun anew', async () => {
    const file = logFile('old\n');
    renameSync(file, olderFile(file));
    writeFileSync(file, 'one\n');
    const lines = follow(file, placeIn(file, 0));
    await until(lines, 1);
    rmSync(file);
    writeFileSync(file, 'two\n');
    await until(lines, 2);
    expect(lines).toEqual(['one', 'two']);
  });

  it('shows both files when there was none before', async () => {
    const file = path.join(tempFolder(), 'later.jsonl');
    const { place } = await lastLines(file, 1, all);
    writeFileSync(olderFile(file), 'one\n');
    writeFileSync(file, 'two\n');
    const lines = follow(file, place);
    await until(lines, 2);
    expect(lines).toEqual(['one', 'two']);
  });
});
