import { timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { keyedDigest } from '../../lib/index.ts';
import { egressIdentity } from '../../protocol/index.ts';
import type { EgressClaim } from '../../protocol/index.ts';
import { createBudget } from './budget.ts';
import type { BudgetLimits } from './budget.ts';
import { createConnectionLimits, createUnnamed } from './connection-limits.ts';
import { awaitPreamble } from './preamble.ts';
import type { Target } from '../target/index.ts';

/** A connection of a worker. */
export interface Client {
  readonly worker: number;
  /** One too many: all it gets is a reason. */
  readonly crowded: boolean;
  /** What it has asked has no answer yet. */
  busy: boolean;
  /** It was refused something, and gets no more answers. */
  refused: boolean;
  /** It has cost the worker nothing: it led to what is allowed. */
  free: boolean;
  /** Its requests are those of a tunnel to there. */
  tunnel: Target | undefined;
}

export interface Clients {
  of(socket: Socket): Client | undefined;
  /** Its target is allowed. */
  letThrough(client: Client): void;
  /** It has asked for more than is answered. */
  ignore(client: Client): void;
  /** From now on what comes on this connection are plain requests for that target. */
  examine(client: Client, socket: Socket, tunnel: Target): void;
}

interface ClientLimits {
  readonly preambleMs: number;
  readonly unnamed: number;
  readonly perWorker: number;
  readonly all: number;
  readonly refusals: BudgetLimits;
}

/** Each connection says first whose it is, is counted from the beginning, and waits when its worker has cost too much. */
export function receive(server: Server, key: string, limits: ClientLimits): Clients {
  const clients = new WeakMap<Socket, Client>();
  const connections = createConnectionLimits(limits.perWorker, limits.all);
  const unnamed = createUnnamed(limits.unnamed);
  const budget = createBudget(limits.refusals);
  const parse = takeParser(server);
  const admit = (socket: Socket, { worker, token }: EgressClaim, goOn: () => void): void => {
    unnamed.leave(socket);
    const place = isTokenOf(key, worker, token) ? connections.enter(worker) : 'none';
    if (place === 'none') return void socket.destroy();
    socket.once('close', () => connections.leave(worker));
    clients.set(socket, newClient(worker, place === 'reason-only'));
    budget.enter(worker, () => {
      if (socket.destroyed) return;
      parse(socket);
      goOn();
    });
  };
  server.on('connection', (socket) => {
    unnamed.enter(socket);
    awaitPreamble(socket, limits.preambleMs, (claim, goOn) => admit(socket, claim, goOn));
  });
  return {
    of: (socket) => clients.get(socket),
    letThrough: (client) => {
      if (!client.free) budget.giveBack(client.worker);
      client.free = true;
    },
    ignore: (client) => {
      client.refused = true;
      budget.charge(client.worker);
    },
    examine: (client, socket, tunnel) => {
      if (socket.destroyed) return;
      client.tunnel = tunnel;
      parse(socket);
      socket.resume();
    },
  };
}

/** From now on the server parses only the connections that it is given: their first line is ours. */
function takeParser(server: Server): (socket: Socket) => void {
  const [parse] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeAllListeners('connection');
  return (socket) => parse.call(server, socket);
}

function newClient(worker: number, crowded: boolean): Client {
  return { worker, crowded, busy: false, refused: false, free: false, tunnel: undefined };
}

/** A task may say any number; the token it cannot know. */
function isTokenOf(key: string, worker: number, token: string): boolean {
  const wanted = keyedDigest(key, egressIdentity(worker));
  return wanted.length === token.length && timingSafeEqual(Buffer.from(wanted), Buffer.from(token));
}
