import { timingSafeEqual } from 'node:crypto';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { keyedDigest } from '../../lib/index.ts';
import { egressIdentity } from '../../protocol/index.ts';
import type { EgressClaim, EgressWay } from '../../protocol/index.ts';
import { createBudget } from './budget.ts';
import type { BudgetLimits } from './budget.ts';
import { createConnectionLimits, createUnnamed } from './connection-limits.ts';
import { awaitPreamble } from './preamble.ts';
import type { Target } from '../target/index.ts';

/** A connection of a worker. */
export interface Client {
  readonly worker: number;
  readonly way: EgressWay;
  /** The only hosts of the allowlist that it may reach. */
  readonly reach: string | undefined;
  /** Its worker has too many connections: it is answered with that reason only. */
  readonly isOverLimit: boolean;
  /** Its request has no answer yet. */
  busy: boolean;
  /** A request of it was refused: it gets no more answers. */
  refused: boolean;
  /** It does not count against the worker's budget: its target was allowed. */
  free: boolean;
  /** The target of the tunnel that its requests came in. */
  tunnel: Target | undefined;
}

export type Clients = ReturnType<typeof receive>;

interface ClientLimits {
  readonly preambleMs: number;
  readonly unnamed: number;
  readonly perWorker: number;
  readonly all: number;
  readonly refusals: BudgetLimits;
}

/** Each connection begins with a line that names its worker. It is counted, and waits while its worker's budget is used up. */
export function receive(server: Server, key: string, limits: ClientLimits) {
  const clients = new WeakMap<Socket, Client>();
  const connections = createConnectionLimits(limits.perWorker, limits.all);
  const unnamed = createUnnamed(limits.unnamed);
  const budget = createBudget(limits.refusals);
  const parse = takeParser(server);
  const admit = (socket: Socket, claim: EgressClaim, goOn: () => void): void => {
    unnamed.leave(socket);
    const place = isProven(key, claim) ? connections.enter(claim.worker) : 'none';
    if (place === 'none') return void socket.destroy();
    socket.once('close', () => connections.leave(claim.worker));
    clients.set(socket, newClient(claim, place === 'reason-only'));
    budget.enter(claim.worker, () => {
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
    of: (socket: Socket): Client | undefined => clients.get(socket),
    /** Its target is allowed. */
    letThrough: (client: Client): void => {
      if (!client.free) budget.giveBack(client.worker);
      client.free = true;
    },
    /** It has sent a request before the last one was answered. */
    ignore: (client: Client): void => {
      client.refused = true;
      budget.charge(client.worker);
    },
    /** From now on plain requests for that target come on this connection. */
    examine: (client: Client, socket: Socket, tunnel: Target): void => {
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

function newClient({ worker, way, reach }: EgressClaim, isOverLimit: boolean): Client {
  return { worker, way, reach, isOverLimit, busy: false, refused: false, free: false, tunnel: undefined };
}

/** A task may claim any number, and does not know the token. */
function isProven(key: string, { worker, way, reach, token }: EgressClaim): boolean {
  const wanted = keyedDigest(key, egressIdentity(worker, { way, reach }));
  return wanted.length === token.length && timingSafeEqual(Buffer.from(wanted), Buffer.from(token));
}
