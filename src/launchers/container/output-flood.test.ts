import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { keepOutput } from './output.ts';

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
  ])('stays within its limit, however much comes %s, and has the end of it', async (_, block) => {
    const { stdout, stderr, log } = openPrinter();
    const limit = 1024 ** 2;
    const output = keepOutput({ stdout, stderr }, log, ['top-secret'], limit);
    for (let sent = 0; sent < 10 * 1024 ** 2; sent += block.length) await print(stdout, block);
    await print(stdout, '\nthe last line\n');
    stdout.end();
    stderr.end();
    await output.settled();
    expect(kept(log).reduce((sum, file) => sum + statSync(file).size, 0)).toBeLessThanOrEqual(limit);
    expect(readFileSync(log, 'utf8').slice(-100)).toMatch(/the last line\n$/);
  });
});
