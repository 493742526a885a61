import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { keepOutput } from '../../containers/index.ts';
import { assignmentWatch } from './assignment-watch.ts';

interface Printer {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  readonly log: string;
}

const openPrinter = (): Printer => ({
  stdout: new PassThrough(),
  stderr: new PassThrough(),
  log: path.join(tempFolder(), 'worker-0.jsonl'),
});

/** As a socket does it: between two pieces all else gets its turn. */
async function print(stream: PassThrough, text: string | Buffer): Promise<void> {
  if (!stream.write(text)) await once(stream, 'drain');
  await turn();
}

const kept = (log: string): string[] => [log, `${log}.1`].filter((file) => existsSync(file));

describe('the log of a container that floods it', () => {
  it.each([
    ['in lines', Buffer.from(`${'x'.repeat(99)}\n`.repeat(1000))],
    ['in one line that has no end', Buffer.alloc(100_000, 'x')],
    ['in empty lines', Buffer.alloc(100_000, '\n')],
  ])('stays within its limit, however much comes %s, and keeps the end', async (_, block) => {
    const { stdout, stderr, log } = openPrinter();
    const limit = 1024 ** 2;
    const output = keepOutput({ stdout, stderr }, { log, secrets: ['top-secret'], limitBytes: limit });
    for (let sent = 0; sent < 10 * 1024 ** 2; sent += block.length) await print(stdout, block);
    await print(stdout, '\nthe last line\n');
    stdout.end();
    stderr.end();
    await output.settled();
    expect(kept(log).reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThanOrEqual(limit);
    expect(readFileSync(log, 'utf8').slice(-100)).toMatch(/the last line\n$/);
  });
});

/** As the host does it: a new file in the place of the old one. */
function assign(inbox: string, attempt: string): void {
  mkdirSync(inbox, { recursive: true });
  writeFileSync(path.join(inbox, 'new'), JSON.stringify({ attempt }));
  renameSync(path.join(inbox, 'new'), path.join(inbox, 'assignment.json'));
}

it('the log of a worker has the lines of each attempt, also when one of them prints without end', async () => {
  const { stdout, stderr, log } = openPrinter();
  const inbox = path.join(path.dirname(log), 'inbox');
  const output = keepOutput({ stdout, stderr }, { log, section: assignmentWatch(inbox) });
  const flood = Buffer.from(`${JSON.stringify({ task: 'A', attempt: 'A.1', text: 'x'.repeat(1000) })}\n`.repeat(1000));
  for (const attempt of ['A.1', 'B.1', 'C.1']) {
    assign(inbox, attempt);
    // Later than the host looks again: it asks for the assignment at most ten times a second.
    await new Promise((resolve) => setTimeout(resolve, 150));
    await print(stdout, `${attempt} begins\n`);
    if (attempt === 'B.1') for (let sent = 0; sent < 100; sent += 1) await print(stdout, flood);
    await print(stdout, `${attempt} ends\n`);
    while (stdout.readableLength > 0) await turn();
  }
  stdout.end();
  stderr.end();
  await output.settled();
  const text = readFileSync(log, 'utf8');
  // A slow disk may leave out lines of the flood besides.
  const own = text.split('\n').filter((line) => !/^\{|too slow$/.test(line));
  expect(own).toEqual([
    'A.1 begins',
    'A.1 ends',
    'B.1 begins',
    '… this attempt has printed 20 MiB; the rest is left out, except its end, which follows when the attempt is over',
    expect.stringMatching(/^… \d+ lines of this attempt were left out here$/),
    'B.1 ends',
    'C.1 begins',
    'C.1 ends',
    '',
  ]);
  // What is still on its way when the next attempt begins takes of the room of that one.
  expect(text.length).toBeLessThan(2 * 22 * 1024 ** 2);
  expect(existsSync(`${log}.1`)).toBe(false);
});
