import { z } from 'zod';
import { INSIDE } from './handover.ts';

/** What workers may reach: one name, the names below it, or one address, each with its ports. */
export const egressRule = z.strictObject({
  /** A name in lower case, or an address as `readAddress` writes it. */
  host: z.string().min(1),
  /** "subdomains": the names below `host`, and not `host` itself. */
  covers: z.enum(['host', 'subdomains']),
  ports: z.array(z.int().min(1).max(65_535)),
  /** The name may lead into a private network: the user's own configuration of another tool has it. */
  trustedPrivate: z.boolean(),
});
export type EgressRule = Readonly<z.infer<typeof egressRule>>;

/** The configuration of the egress proxy, as JSON in its environment: it is no secret. */
export const egressOrders = z.strictObject({
  version: z.literal(1),
  /** The proxy ends itself when the lease was not renewed for so long, as workers do. */
  leaseMs: z.number().positive(),
  rules: z.array(egressRule),
});
export type EgressOrders = z.infer<typeof egressOrders>;

/** The variable that holds the orders. */
export const EGRESS_ORDERS = 'MAHABHARATHA_EGRESS';

/** Where the proxy listens, and the doors of workers connect. */
export const EGRESS_SOCKET = `${INSIDE.egress}/proxy.sock`;

/** The variable with the key of the run, which the proxy knows and workers do not. */
export const EGRESS_KEY = 'MAHABHARATHA_EGRESS_KEY';

/** A worker's token is the keyed digest of this text. */
export const egressIdentity = (worker: number): string => `worker ${worker}`;

/** The first line of each connection from a door to the proxy: the worker and its token. */
export const egressPreamble = (worker: number, token: string): string => `${egressIdentity(worker)} ${token}\n`;

const PREAMBLE = /^worker (\d{1,3}) ([0-9a-f]{64})\n/;
const LONGEST_PREAMBLE = egressPreamble(999, '0'.repeat(64)).length;

/** Which worker a connection claims to come from. */
export interface EgressClaim {
  readonly worker: number;
  readonly token: string;
  /** The length of the preamble. */
  readonly bytes: number;
}

/** Reads the preamble at the beginning of a text; undefined when it is not complete, null when it is none. */
export function readEgressPreamble(text: string): EgressClaim | undefined | null {
  const [all, worker, token] = PREAMBLE.exec(text) ?? [];
  if (all !== undefined) return { worker: Number(worker), token: token ?? '', bytes: all.length };
  return text.includes('\n') || text.length >= LONGEST_PREAMBLE ? null : undefined;
}
