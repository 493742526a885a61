import type { Socket } from 'node:net';
import type { Denial } from './denial.ts';
import { looksLikeTls, readClientHello } from './client-hello.ts';
import { readHost } from '../target/index.ts';
import type { Target } from '../target/index.ts';

/** The first bytes of a tunnel from both sides, up to where they show what it is for. */
export interface Opening {
  readonly client: Buffer;
  readonly server: Buffer;
}

/** "tunnel": the bytes may pass as they are; "http": plain requests, to be examined one by one; "nothing" has come. */
type Verdict = 'tunnel' | 'http' | 'nothing' | Denial;

const NOTHING = Buffer.alloc(0);

/** Reads until the opening is complete; its bytes are no longer in the sockets then. */
export function awaitOpening(client: Socket, server: Socket, target: Target, limitMs: number): Promise<Opening> {
  return new Promise((resolve) => {
    let received = NOTHING;
    const settle = (answered: Buffer): void => {
      clearTimeout(timer);
      client.off('data', take).pause();
      server.off('data', settle).pause();
      for (const socket of [client, server]) socket.off('end', ended).off('close', ended);
      resolve({ client: received, server: answered });
    };
    const take = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      if (!looksLikeTls(received) || readClientHello(received) !== 'more') settle(NOTHING);
    };
    const ended = (): void => settle(NOTHING);
    // A service on a port of its own may be silent for any time.
    const timer = hasNamesBehind(target) ? setTimeout(ended, limitMs) : undefined;
    client.on('data', take);
    server.on('data', settle);
    for (const socket of [client, server]) socket.on('error', ignore).on('end', ended).on('close', ended);
    if (client.destroyed || server.destroyed) ended();
  });
}

/** Pure. The name in the tunnel must be the name that the tunnel was opened for. */
export function judgeOpening(target: Target, { client }: Pick<Opening, 'client'>): Verdict {
  if (looksLikeTls(client)) return disagreement(target, client) ?? 'tunnel';
  if (!hasNamesBehind(target)) return 'tunnel';
  if (client.length === 0) return 'nothing';
  if (target.port === 80) return 'http';
  return { reason: 'not-tls', target };
}

/** On the ports of the web one address may serve many names; an entry with another port means one service. */
function hasNamesBehind({ isAddress, port }: Target): boolean {
  return !isAddress && (port === 443 || port === 80);
}

function disagreement(target: Target, greeting: Buffer): Denial | undefined {
  const hello = readClientHello(greeting);
  if (typeof hello === 'string') return { reason: 'unreadable-greeting', target };
  if (hello.hidesName) return { reason: 'hidden-server-name', target };
  if (hello.name === undefined) return target.isAddress ? undefined : { reason: 'no-server-name', target };
  const asked = readHost(hello.name);
  return asked?.host === target.host ? undefined : { reason: 'other-server-name', target, detail: hello.name };
}

const ignore = (): void => undefined;
