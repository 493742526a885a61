import * as z from 'zod/mini';
import { INSIDE } from './handover.ts';

/** What workers may reach: one name, the names below it, or one address, each with its ports. */
export const egressRule = z.strictObject({
  /** A name in lower case, or an address as `readAddress` writes it. */
  host: z.string().check(z.minLength(1)),
  /** "subdomains": the names below `host`, and not `host` itself. */
  covers: z.enum(['host', 'subdomains']),
  ports: z.array(z.int().check(z.minimum(1), z.maximum(65_535))),
  /** The name may lead into a private network: the user's own configuration of another tool has it. */
  trustedPrivate: z.boolean(),
});
export type EgressRule = Readonly<z.infer<typeof egressRule>>;

/** The configuration of the egress proxy, as JSON in its environment: it is no secret. */
export const egressOrders = z.strictObject({
  version: z.literal(1),
  /** The proxy ends itself when the lease was not renewed for so long, as workers do. */
  leaseMs: z.number().check(z.positive()),
  rules: z.array(egressRule),
  /** The first line of its stdin is its access to the model. */
  access: z.boolean(),
});
export type EgressOrders = z.infer<typeof egressOrders>;

/**
 * What the egress proxy adds to requests for the model, so that no worker has it: the first line of the proxy's stdin,
 * because no file, no argument list and no `inspect` shows that.
 */
export const modelAccess = z.strictObject({
  version: z.literal(1),
  /** Requests go to this scheme, host and port, and below this path. */
  url: z.url({ protocol: /^https?$/ }),
  /** In lower case; they replace what the client has sent. */
  headers: z.record(z.string().check(z.regex(/^[a-z0-9-]+$/)), z.string()),
  /** Names that "anthropic-beta" has to have. */
  betas: z.array(z.string()),
});
export type ModelAccess = Readonly<z.infer<typeof modelAccess>>;

/** The variable that holds the orders. */
export const EGRESS_ORDERS = 'MAHABHARATHA_EGRESS';

/** Where the proxy listens, and the doors of workers connect. */
export const EGRESS_SOCKET = `${INSIDE.egress}/proxy.sock`;

/** The variable with the key of the run, which the proxy knows and workers do not. */
export const EGRESS_KEY = 'MAHABHARATHA_EGRESS_KEY';

/** What a connection to the proxy is for: hosts of the allowlist, or the model, with credentials that the proxy adds. */
export type EgressWay = 'worker' | 'model';

/** A way that leads to some hosts of the allowlist only: their names, as `reachText` writes them. */
export interface EgressReach {
  readonly way?: EgressWay;
  readonly reach?: string | undefined;
}

/** The token of a worker for one of the ways is the keyed digest of this text. So no worker can name other hosts. */
export const egressIdentity = (worker: number, { way = 'worker', reach }: EgressReach = {}): string =>
  reach === undefined ? `${way} ${worker}` : `${way} ${worker} ${reach}`;

/** The first line of each connection from a door to the proxy: the way, the worker, perhaps hosts, and its token. */
export const egressPreamble = (worker: number, token: string, to: EgressReach = {}): string =>
  `${egressIdentity(worker, to)} ${token}\n`;

/** All the hosts that one client may name, in characters. */
export const LONGEST_REACH = 1024;
const PREAMBLE = /^(worker|model) (\d{1,3})(?: ([a-z0-9.*:,_-]+))? ([0-9a-f]{64})\n/;
export const LONGEST_PREAMBLE = egressPreamble(999, '0'.repeat(64), { reach: ' '.repeat(LONGEST_REACH) }).length;

/** One place for `reachText`: a name, "*." before one whose names below are meant, or an address, and a port. */
export const reachPlace = (host: string, port: number): string => `${host}:${port}`;

/** Hosts with their ports as one word. */
export const reachText = (places: readonly string[]): string => places.join(',');

/** Whether a host with this port is one of that text. */
export function isInReach(reach: string | undefined, host: string, port: number): boolean {
  if (reach === undefined) return true;
  const place = reachPlace(host, port);
  return reach.split(',').some((each) => (each.startsWith('*.') ? place.endsWith(each.slice(1)) : place === each));
}

/** Which worker a connection claims to come from. */
export interface EgressClaim {
  readonly way: EgressWay;
  readonly worker: number;
  readonly reach: string | undefined;
  readonly token: string;
  /** The length of the preamble. */
  readonly bytes: number;
}

/** Reads the preamble at the beginning of a text; undefined when it is not complete, null when it is none. */
export function readEgressPreamble(text: string): EgressClaim | undefined | null {
  const [all, way, worker, reach, token] = PREAMBLE.exec(text) ?? [];
  if (all !== undefined) {
    const claimed = { way: way === 'model' ? way : 'worker', worker: Number(worker), reach } as const;
    return { ...claimed, token: token ?? '', bytes: all.length };
  }
  return text.includes('\n') || text.length >= LONGEST_PREAMBLE ? null : undefined;
}
