import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { parseAllowlist } from '../../src/egress/rules/allowlist.ts';
import { dial } from '../../src/egress/proxy/dial.ts';
import { modelRoute } from '../../src/egress/proxy/model-route.ts';
import { createProxy, listen } from '../../src/egress/proxy/proxy.ts';
import type { ProxyLimits } from '../../src/egress/proxy/proxy.ts';
import { createRefusalLog } from '../../src/egress/proxy/refusal-log.ts';
import { refusalText } from '../../src/egress/target/index.ts';
import { keyedDigest } from '../../src/lib/index.ts';
import { egressIdentity, egressPreamble, readRefusal } from '../../src/protocol/index.ts';
import type { EgressRule, EgressWay, ModelAccess, Refusal } from '../../src/protocol/index.ts';
import { openEgressDoor } from '../../src/egress/door/index.ts';
import { tempFolder } from './temp-folder.ts';

interface Wishes {
  readonly allow: readonly string[];
  readonly rules?: readonly EgressRule[];
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>;
  /** Where connections to an address really go; without it nowhere else than to loopback. */
  readonly port?: number;
  readonly limits?: Partial<ProxyLimits>;
  /** What the proxy adds to requests for the model. */
  readonly access?: ModelAccess;
}

export interface EgressWorld {
  /** Where clients in the container would connect. */
  readonly port: number;
  /** Where its agent would find its model. */
  readonly modelPort: number;
  readonly socket: string;
  readonly proxy: Server;
  /** The log as people read it. */
  readonly told: string[];
  /** The log itself. */
  readonly records: Refusal[];
  readonly asked: string[];
  readonly dialled: string[];
}

/** A line of the proxy's log as people read it; throws when it is no record of a refusal. */
export function textOfRefusal(line: string): string {
  const refusal = readRefusal(line);
  if (refusal === undefined) throw new Error(`no refusal: ${line}`);
  return refusalText(refusal);
}

export const KEY = 'made-up-key';
const tokenOf = (worker: number, way?: EgressWay): string =>
  keyedDigest(KEY, egressIdentity(worker, way === undefined ? {} : { way }));
/** What the door of that worker says first. */
export const preambleOf = (worker: number): string => egressPreamble(worker, tokenOf(worker));

/** A worker's door and the proxy behind it, with a name server of our own. */
export async function egressWorld(wishes: Wishes): Promise<EgressWorld> {
  const socket = path.join(tempFolder(), 'proxy.sock');
  const [told, asked, dialled]: string[][] = [[], [], []] as string[][];
  const records: Refusal[] = [];
  const log = createRefusalLog((line) => {
    told?.push(textOfRefusal(line));
    records.push(JSON.parse(line) as Refusal);
  });
  const answers = new Map(Object.entries(wishes.names ?? {}).map(([name, each]) => [name, [...each]]));
  const proxy = createProxy({
    rules: [...parseAllowlist(wishes.allow).rules, ...(wishes.rules ?? [])],
    key: KEY,
    resolve: async (name) => {
      asked?.push(name);
      const found = answers.get(name);
      const answer = found !== undefined && found.length > 1 ? found.shift() : found?.[0];
      if (answer === undefined) throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
      return answer;
    },
    dial: async (addresses, port, limitMs) => {
      dialled?.push(...addresses.map((address) => `${address}:${port}`));
      return wishes.port === undefined ? dial(addresses, port, limitMs) : dial(['127.0.0.1'], wishes.port, limitMs);
    },
    log,
    model: wishes.access && modelRoute(wishes.access),
    ...(wishes.limits === undefined ? {} : { limits: wishes.limits }),
  });
  await listen(proxy, socket);
  const door = await openEgressDoor({ port: 0, socket, worker: 3, token: tokenOf(3) });
  const modelDoor = await openEgressDoor({ port: 0, socket, worker: 3, token: tokenOf(3, 'model'), way: 'model' });
  onTestFinished(() => {
    modelDoor.close();
    door.close();
    log.close();
    proxy.close();
    proxy.closeAllConnections();
  });
  const [port, modelPort] = [door.port, modelDoor.port];
  return { port, modelPort, socket, proxy, told: told ?? [], records, asked: asked ?? [], dialled: dialled ?? [] };
}

export interface Origin {
  readonly port: number;
  readonly server: Server;
  /** Every request it has seen: method, path and headers, as they came. */
  readonly seen: { readonly line: string; readonly raw: readonly string[]; readonly body: string }[];
}

/** Its port on this machine's loopback, until the test ends. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A web server on this machine's loopback; answers "hello <path>" when told nothing else. */
export async function startOrigin(answer?: RequestListener): Promise<Origin> {
  const seen: Origin['seen'] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      seen.push({ line: `${request.method} ${request.url}`, raw: request.rawHeaders, body });
      if (answer === undefined) response.end(`hello ${request.url}`);
      else answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port: (server.address() as AddressInfo).port, server, seen };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer);
  } catch {
    return '(broken off)';
  }
  return Buffer.concat(parts).toString('latin1');
}

export interface Wire {
  readonly socket: Socket;
  /** Everything that came so far. */
  text(): string;
  readonly closed: Promise<void>;
  /** Resolves when that text has come; rejects when the connection ends without it. */
  until(text: string): Promise<string>;
}

/** A bare connection, for what no decent client would say. */
export function wire(to: number | string, say = ''): Wire {
  const options = { allowHalfOpen: false };
  const socket = typeof to === 'string' ? connect({ path: to, ...options }) : connect({ port: to, ...options });
  let text = '';
  socket.on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  if (say !== '') socket.write(say, 'latin1');
  onTestFinished(() => void socket.destroy());
  const until = async (wanted: string): Promise<string> => {
    while (!text.includes(wanted)) {
      if (socket.closed) throw new Error(`closed before "${wanted}" came: ${JSON.stringify(text)}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return text;
  };
  return { socket, closed, text: () => text, until };
}

/** Says something, and gives what comes back until the connection ends. */
export async function say(to: number | string, text: string): Promise<string> {
  const line = wire(to, text);
  await line.closed;
  return line.text();
}
