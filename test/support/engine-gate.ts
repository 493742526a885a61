import net from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { searchEngine } from '../../src/engines/index.ts';

/** What a program asks of the engine; of a container that it has made itself, also by which name it was made. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly container: string | undefined;
}

/** A door before the engine, for tests that must be there at an exact moment between two of its answers. */
export interface EngineGate {
  /** For DOCKER_HOST. */
  readonly host: string;
  /** The first answer to a question like this is held back, for ever, and this is called. */
  onAnswer(matches: (asked: Asked) => boolean, call: () => void): void;
  /** The first question like this is not passed on. */
  onQuestion(matches: (asked: Asked) => boolean, call: () => void): void;
  close(): void;
}

interface Trap {
  readonly at: 'question' | 'answer';
  readonly matches: (asked: Asked) => boolean;
  readonly call: () => void;
}

export async function createEngineGate(folder: string): Promise<EngineGate> {
  const { endpoint } = await searchEngine(process.env);
  if (endpoint === undefined) throw new Error('no engine to stand before');
  const place = endpoint.kind === 'socket' ? { path: endpoint.path } : { host: endpoint.host, port: endpoint.port };
  const file = path.join(folder, 'engine.sock');
  const names = new Map<string, string>();
  const sockets = new Set<Socket>();
  let trap: Trap | undefined;
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const engine = net.connect({ ...place, allowHalfOpen: true });
    let asked: Asked | undefined;
    const sprung = (at: Trap['at']): boolean => {
      if (trap?.at !== at || asked === undefined || !trap.matches(asked)) return false;
      const { call } = trap;
      trap = undefined;
      call();
      return true;
    };
    client.on('data', (chunk) => {
      asked = questionIn(chunk, names) ?? asked;
      if (!sprung('question')) engine.write(chunk);
    });
    engine.on('data', (chunk) => {
      const id = asked?.path === '/containers/create' ? /"Id":"([0-9a-f]{64})"/.exec(chunk.toString())?.[1] : undefined;
      if (id !== undefined && asked?.container !== undefined) names.set(id, asked.container);
      if (!sprung('answer')) client.write(chunk);
    });
    join(client, engine, sockets);
    join(engine, client, sockets);
  });
  await new Promise<void>((resolve) => server.listen(file, resolve));
  return {
    host: `unix://${file}`,
    onAnswer: (matches, call) => (trap = { at: 'answer', matches, call }),
    onQuestion: (matches, call) => (trap = { at: 'question', matches, call }),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A request begins a chunk, because a client waits for the answer before its next request. */
function questionIn(chunk: Buffer, names: ReadonlyMap<string, string>): Asked | undefined {
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
