import net from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { searchEngine } from '../../src/engines/index.ts';

/** A request to the engine, with the name of its container if that was created through this gate. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly container: string | undefined;
}

/** A proxy before the engine, for tests that act at an exact moment between two of its answers. */
export interface EngineGate {
  /** For DOCKER_HOST. */
  readonly host: string;
  /** Calls back at the first answer to a matching request, and never passes that answer on. */
  onAnswer(matches: (asked: Asked) => boolean, call: () => void): void;
  /** Calls back at the first matching request, and never passes it on. */
  onRequest(matches: (asked: Asked) => boolean, call: () => void): void;
  /** Answers matching requests as if there were no such thing. */
  hide(matches: (asked: Asked) => boolean): void;
  close(): void;
}

const NOT_THERE = '{"message":"No such image"}';
const MISSING = `HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: ${NOT_THERE.length}\r\n\r\n${NOT_THERE}`;

interface Trap {
  readonly at: 'request' | 'answer';
  readonly matches: (asked: Asked) => boolean;
  readonly call: () => void;
}

export async function createEngineGate(folder: string): Promise<EngineGate> {
  const { endpoint } = await searchEngine(process.env);
  if (endpoint === undefined) throw new Error('there is no engine');
  const place = endpoint.kind === 'socket' ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
  const file = path.join(folder, 'engine.sock');
  const names = new Map<string, string>();
  const sockets = new Set<Socket>();
  let trap: Trap | undefined;
  let isHidden: ((asked: Asked) => boolean) | undefined;
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const engine = net.connect({ ...place, allowHalfOpen: true });
    let asked: Asked | undefined;
    const isCaught = (at: Trap['at']): boolean => {
      if (trap?.at !== at || asked === undefined || !trap.matches(asked)) return false;
      const { call } = trap;
      trap = undefined;
      call();
      return true;
    };
    client.on('data', (chunk) => {
      const request = requestIn(chunk, names);
      asked = request ?? asked;
      if (request !== undefined && isHidden?.(request) === true) client.write(MISSING);
      else if (!isCaught('request')) engine.write(chunk);
    });
    engine.on('data', (chunk) => {
      const id = asked?.path === '/containers/create' ? /"Id":"([0-9a-f]{64})"/.exec(chunk.toString())?.[1] : undefined;
      if (id !== undefined && asked?.container !== undefined) names.set(id, asked.container);
      if (!isCaught('answer')) client.write(chunk);
    });
    join(client, engine, sockets);
    join(engine, client, sockets);
  });
  await new Promise<void>((resolve) => server.listen(file, resolve));
  return {
    host: `unix://${file}`,
    onAnswer: (matches, call) => (trap = { at: 'answer', matches, call }),
    onRequest: (matches, call) => (trap = { at: 'request', matches, call }),
    hide: (matches) => (isHidden = matches),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Each request begins a chunk, because a client waits for the answer before its next request. */
function requestIn(chunk: Buffer, names: ReadonlyMap<string, string>): Asked | undefined {
  const found = /^(GET|POST|DELETE|PUT|HEAD) (?:\/v[\d.]+)?(\S+) HTTP/.exec(chunk.toString('latin1', 0, 4000));
  if (found === null) return undefined;
  const url = new URL(found[2] ?? '/', 'http://engine');
  const id = /^\/containers\/([0-9a-f]{64})/.exec(url.pathname)?.[1] ?? '';
  const container = url.pathname === '/containers/create' ? (url.searchParams.get('name') ?? '') : names.get(id);
  return { method: found[1] ?? '', path: id === '' ? url.pathname : url.pathname.replace(id, ':id'), container };
}

/** Half-closed connections stay half open: the engine ends a container's stdin that way. */
function join(from: Socket, to: Socket, sockets: Set<Socket>): void {
  sockets.add(from);
  from.on('end', () => to.end());
  from.on('error', () => to.destroy());
  from.on('close', () => {
    sockets.delete(from);
    if (!to.writableEnded) to.end();
  });
}
