import { z } from 'zod';
import { INSIDE } from './handover.ts';

/** What workers may reach: one name, the names below it, or one address, each with its ports. */
export const egressRule = z.strictObject({
  /** A name in lower case, or an address as `readAddress` writes it. */
  host: z.string().min(1),
  /** "subdomains": the names below `host`, and not `host` itself. */
  covers: z.enum(['host', 'subdomains']),
  ports: z.array(z.int().min(1).max(65_535)),
  /** Named in the user's own configuration of another tool: the name may lead into a private network. */
  trustedPrivate: z.boolean(),
});
export type EgressRule = Readonly<z.infer<typeof egressRule>>;

/** What the egress proxy must know, as JSON in its environment: it is no secret. */
export const egressOrders = z.strictObject({
  version: z.literal(1),
  /** As for workers: without a sign of life of the orchestrator for so long the proxy ends itself. */
  leaseMs: z.number().positive(),
  rules: z.array(egressRule),
});
export type EgressOrders = z.infer<typeof egressOrders>;

/** The variable that holds the orders. */
export const EGRESS_ORDERS = 'MAHABHARATHA_EGRESS';

/** Where the proxy listens and the workers' doors knock. */
export const EGRESS_SOCKET = `${INSIDE.egress}/proxy.sock`;

/** The variable with the key of the run, which the proxy has and no worker. */
export const EGRESS_KEY = 'MAHABHARATHA_EGRESS_KEY';

/** What a worker's token is the keyed digest of. */
export const egressIdentity = (worker: number): string => `worker ${worker}`;

/** The first line on each connection from a door to the proxy: whose it is, and what proves that. */
export const egressPreamble = (worker: number, token: string): string => `${egressIdentity(worker)} ${token}\n`;

const PREAMBLE = /^worker (\d{1,3}) ([0-9a-f]{64})\n/;
const LONGEST_PREAMBLE = egressPreamble(999, '0'.repeat(64)).length;

/** Whose a connection claims to be. */
export interface EgressClaim {
  readonly worker: number;
  readonly token: string;
  /** Of the connection's first ones. */
  readonly bytes: number;
}

/** The preamble at the beginning of the text; undefined while more must come; null when it is none. */
export function readEgressPreamble(text: string): EgressClaim | undefined | null {
  const [all, worker, token] = PREAMBLE.exec(text) ?? [];
  if (all !== undefined) return { worker: Number(worker), token: token ?? '', bytes: all.length };
  return text.includes('\n') || text.length >= LONGEST_PREAMBLE ? null : undefined;
}
