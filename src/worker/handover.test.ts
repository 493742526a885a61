import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readHandover } from './handover.ts';

const HANDOVER = {
  version: 1,
  env: { TZ: 'UTC' },
  agent: { env: { KEY: 'made-up-key-ü' }, files: [{ path: '.claude.json', content: '{}\n' }] },
  egress: false,
  secrets: ['made-up-key-ü'],
};
const LINE = `${JSON.stringify(HANDOVER)}\n`;
const LIMIT = 10_000;
const LONG_MS = 60_000;

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
  it('is the first line, in pieces of any size; the end of stdin is seen later', async () => {
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

  it('leaves all that follows, and an end that came with it, to who listens next', async () => {
    const stdin = new PassThrough();
    stdin.end(`${LINE}what follows\nand more`);
    expect(await readHandover(stdin, LIMIT, LONG_MS)).toEqual(HANDOVER);
    for (let n = 0; n < 5; n += 1) await turn();
    expect(await restOf(stdin)).toEqual({ rest: '\nwhat follows\nand more', ended: true });
  });

  it.each<[string, string, string]>([
    ['it is not JSON', 'made-up-key {\n', 'it is not JSON'],
    ['it is of another shape', '{"version":2,"env":{"A":5},"agent":"made-up-key"}\n', 'version, env.A, agent'],
    ['it has a key that we do not know', LINE.replace('"env"', '"made-up-key":1,"env"'), 'the whole'],
    ['stdin ends within it', LINE.slice(0, 60), 'stdin ended before it was whole'],
    ['it is too long', LINE.padStart(LIMIT + 2), `it has more than ${LIMIT} bytes`],
  ])('is refused when %s, in words that quote none of it', async (_, text, reason) => {
    const stdin = new PassThrough();
    const reading = readHandover(stdin, LIMIT, LONG_MS).catch((error: unknown) => error);
    stdin.end(text);
    const error = (await reading) as Error;
    expect(error.message).toContain(reason);
    expect(`${error.message} ${error.stack}`).not.toContain('made-up-key');
    expect(error.cause).toBeUndefined();
  });

  it('is not waited for for ever', async () => {
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
