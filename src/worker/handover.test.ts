import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { sleep } from '../lib/index.ts';
import { readHandover } from './handover.ts';

const HANDOVER = {
  version: 3,
  env: { TZ: 'UTC', KEY: 'made-up-key-ü' },
  egress: null,
  secrets: ['made-up-key-ü'],
};
const LINE = `${JSON.stringify(HANDOVER)}\n`;
const LIMIT = 10_000;
const LONG_MS = 60_000;

/** What Node makes of a pipe on stdin: a socket, on which this text comes, and the end at once. */
async function pipeWith(text: string): Promise<Socket> {
  const server = createServer();
  const place = path.join(tempFolder(), 'socket');
  await new Promise<void>((resolve) => server.listen(place, resolve));
  onTestFinished(() => void server.close());
  const taken = new Promise<Socket>((resolve) => server.once('connection', resolve));
  connect(place).end(text);
  const socket = await taken;
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** What the stream still gives, and whether its end is seen. */
async function restOf(stdin: PassThrough): Promise<{ rest: string; ended: boolean }> {
  let [rest, ended] = ['', false];
  stdin.on('data', (chunk: Buffer) => (rest += chunk.toString()));
  stdin.on('end', () => (ended = true));
  stdin.resume();
  for (let n = 0; n < 5; n += 1) await turn();
  return { rest, ended };
}

describe('the handover', () => {
  it('is the first line, also in small pieces; the end of stdin is seen later', async () => {
    const stdin = new PassThrough();
    const reading = readHandover(stdin, LIMIT, LONG_MS);
    for (const byte of Buffer.from(LINE)) {
      stdin.write(Buffer.from([byte]));
      await turn();
    }
    expect(await reading).toEqual(HANDOVER);
    expect(await restOf(stdin)).toEqual({ rest: '\n', ended: false });
    stdin.end();
    expect(await restOf(stdin)).toMatchObject({ ended: true });
  });

  it('leaves all that follows, and an end that came with it, to the next reader', async () => {
    const stdin = new PassThrough();
    stdin.end(`${LINE}what follows\nand more`);
    expect(await readHandover(stdin, LIMIT, LONG_MS)).toEqual(HANDOVER);
    for (let n = 0; n < 5; n += 1) await turn();
    expect(await restOf(stdin)).toEqual({ rest: '\nwhat follows\nand more', ended: true });
  });

  it('does not lose an end that comes before there is a reader: pipes report it also while they are paused', async () => {
    const stdin = await pipeWith(LINE);
    expect(await readHandover(stdin, LIMIT, LONG_MS)).toEqual(HANDOVER);
    await sleep(50);
    const ended = new Promise((resolve) => stdin.once('end', resolve));
    stdin.resume();
    await ended;
  });

  it.each<[string, string, string]>([
    ['it is not JSON', 'made-up-key {\n', 'it is not JSON'],
    ['it is of another shape', '{"version":1,"env":{"A":5},"secrets":"made-up-key"}\n', 'version, env.A'],
    ['it has a key that we do not know', LINE.replace('"env"', '"made-up-key":1,"env"'), 'the whole'],
    ['stdin ends within it', LINE.slice(0, 60), 'stdin ended before it was whole'],
    ['it is too long', LINE.padStart(LIMIT + 2), `it has more than ${LIMIT} bytes`],
  ])('is refused when %s, and the message quotes none of it', async (_, text, reason) => {
    const stdin = new PassThrough();
    const reading = readHandover(stdin, LIMIT, LONG_MS).catch((error: unknown) => error);
    stdin.end(text);
    const error = (await reading) as Error;
    expect(error.message).toContain(reason);
    expect(`${error.message} ${error.stack}`).not.toContain('made-up-key');
    expect(error.cause).toBeUndefined();
  });

  it('is waited for only up to a limit', async () => {
    const error = (await readHandover(new PassThrough(), LIMIT, 50).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain('it has not come within 0.05 s');
  });

  it('is refused when stdin has ended before', async () => {
    const stdin = new PassThrough();
    stdin.end();
    await restOf(stdin);
    await expect(readHandover(stdin, LIMIT, LONG_MS)).rejects.toThrow('stdin ended');
  });
});
