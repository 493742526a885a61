import { z } from 'zod';
import { INSIDE } from './handover.ts';

/** What workers may reach: one name, the names below it, or one address, each with its ports. */
const egressRule = z.strictObject({
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

/** The first line on each connection from a door to the proxy. */
export const egressPreamble = (worker: number): string => `worker ${worker}\n`;

/** The preamble's worker, and how many bytes it took; undefined while more must come; null when it is none. */
export function readEgressPreamble(text: string): { worker: number; bytes: number } | undefined | null {
  const match = /^worker (\d{1,3})\n/.exec(text);
  if (match !== null) return { worker: Number(match[1]), bytes: match[0].length };
  return text.includes('\n') || text.length > 12 ? null : undefined;
}
