import type { Socket } from 'node:net';
import type { Denial } from './denial.ts';
import { looksLikeTls, readClientHello } from './client-hello.ts';
import { readHost } from '../target/index.ts';
import type { Target } from '../target/index.ts';

/** What both ends of a tunnel have said when it was clear what it is for. */
export interface Opening {
  readonly client: Buffer;
  readonly server: Buffer;
}

/** "tunnel": the bytes may pass as they are; "http": plain requests, to be examined one by one; "nothing" was said. */
type Verdict = 'tunnel' | 'http' | 'nothing' | Denial;

const NOTHING = Buffer.alloc(0);

/** Listens until the opening is complete; what was said is no longer in the sockets. */
export function hearOpening(client: Socket, server: Socket, target: Target, limitMs: number): Promise<Opening> {
  return new Promise((resolve) => {
    let said = NOTHING;
    const settle = (answered: Buffer): void => {
      clearTimeout(timer);
      client.off('data', hear).pause();
      server.off('data', settle).pause();
      for (const socket of [client, server]) socket.off('end', ended).off('close', ended);
      resolve({ client: said, server: answered });
    };
    const hear = (chunk: Buffer): void => {
      said = Buffer.concat([said, chunk]);
      if (!looksLikeTls(said) || readClientHello(said) !== 'more') settle(NOTHING);
    };
    const ended = (): void => settle(NOTHING);
    // A service on a port of its own may be silent for as long as both ends like.
    const timer = hasNamesBehind(target) ? setTimeout(ended, limitMs) : undefined;
    client.on('data', hear);
    server.on('data', settle);
    for (const socket of [client, server]) socket.on('error', ignore).on('end', ended).on('close', ended);
    if (client.destroyed || server.destroyed) ended();
  });
}

/** Pure. The name that a connection was opened to is the one that is asked for on it. */
export function judgeOpening(target: Target, { client }: Pick<Opening, 'client'>): Verdict {
  if (looksLikeTls(client)) return disagreement(target, client) ?? 'tunnel';
  if (!hasNamesBehind(target)) return 'tunnel';
  if (client.length === 0) return 'nothing';
  if (target.port === 80) return 'http';
  return { reason: 'not-tls', target };
}

/** Behind a name, on the ports of the web, there may be many sites; what is listed with a port of its own is one service. */
function hasNamesBehind({ isAddress, port }: Target): boolean {
  return !isAddress && (port === 443 || port === 80);
}

function disagreement(target: Target, said: Buffer): Denial | undefined {
  const hello = readClientHello(said);
  if (typeof hello === 'string') return { reason: 'unreadable-greeting', target };
  if (hello.hidesName) return { reason: 'hidden-server-name', target };
  if (hello.name === undefined) return target.isAddress ? undefined : { reason: 'no-server-name', target };
  const asked = readHost(hello.name);
  return asked?.host === target.host ? undefined : { reason: 'other-server-name', target, detail: hello.name };
}

const ignore = (): void => undefined;
