import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Credentials } from '../protocol/index.ts';
import { openCredentialsInbox } from './credentials-inbox.ts';
import type { CredentialsInbox } from './credentials-inbox.ts';

const KEY = 'made-up-key-ü';
const AGENT = { env: { KEY }, files: [], model: null };
const NEVER = new AbortController().signal;

const lineFor = (attempt: string, key = KEY): string => {
  const line: Credentials = {
    version: 2,
    attempt,
    agent: { env: { KEY: key }, files: [], model: null },
    secrets: [key],
  };
  return `${JSON.stringify(line)}\n`;
};

function open(limitMs?: number): { stdin: PassThrough; inbox: CredentialsInbox } {
  const stdin = new PassThrough();
  const inbox = openCredentialsInbox(stdin, ['made-up-own'], { limitBytes: 1000, ...(limitMs && { limitMs }) });
  return { stdin, inbox };
}

describe('the credentials of an agent', () => {
  it('come on stdin, also in small pieces, before their attempt asks for them or after that', async () => {
    const { stdin, inbox } = open();
    const early = inbox.take('A.1', NEVER);
    // The end of the line before it.
    for (const byte of Buffer.from(`\n${lineFor('A.1')}`)) {
      stdin.write(Buffer.from([byte]));
      await turn();
    }
    expect(await early).toEqual(AGENT);
    stdin.write(lineFor('A.2'));
    await turn();
    expect(await inbox.take('A.2', NEVER)).toEqual(AGENT);
  });

  it('are given to one attempt, and once', async () => {
    const { stdin, inbox } = open();
    stdin.end(lineFor('A.1'));
    for (let n = 0; n < 5; n += 1) await turn();
    expect(await inbox.take('B.1', NEVER)).toBe('none');
    expect(await inbox.take('A.1', NEVER)).toEqual(AGENT);
    expect(await inbox.take('A.1', NEVER)).toBe('none');
  });

  it('are removed from all texts until their attempt is over; those for the next attempt stay', async () => {
    const { stdin, inbox } = open();
    expect(inbox.redact(`made-up-own ${KEY}`)).toBe(`[redacted] ${KEY}`);
    stdin.write(lineFor('A.1'));
    await inbox.take('A.1', NEVER);
    expect(inbox.redact(`made-up-own ${KEY}`)).toBe('[redacted] [redacted]');
    inbox.forget('A.1');
    expect(inbox.redact(`made-up-own ${KEY}`)).toBe(`[redacted] ${KEY}`);
    stdin.write(lineFor('B.1'));
    await turn();
    inbox.forget('A.1');
    expect(inbox.redact(KEY)).toBe('[redacted]');
    expect(await inbox.take('B.1', NEVER)).toEqual(AGENT);
  });

  it('are not waited for when stdin has ended, when they do not come, or when the worker ends', async () => {
    const { stdin, inbox } = open();
    const waiting = inbox.take('A.1', NEVER);
    stdin.end('{"version":1}\nno line\n');
    expect(await waiting).toBe('none');
    expect(await inbox.take('A.1', NEVER)).toBe('none');
    expect(await open(20).inbox.take('A.1', NEVER)).toBe('none');
    const stop = new AbortController();
    const stopped = open().inbox.take('A.1', stop.signal);
    stop.abort();
    expect(await stopped).toBe('none');
  });
});
