import { z } from 'zod';
import { readJson } from '../lib/text/json.ts';
import { egressRule } from './egress.ts';

/** Why a worker did not reach what it asked for. With the last two the allowlist lets it through. */
const reason = z.enum([
  'not-listed',
  'other-port',
  'leads-inside',
  'not-for-proxies',
  'upgrade',
  'too-many-connections',
  'not-tls',
  'unreadable-greeting',
  'hidden-server-name',
  'no-server-name',
  'other-server-name',
  'no-address',
  'unreachable',
]);
export type RefusalReason = z.infer<typeof reason>;

/** A line of the egress proxy's log: what a worker asked for and did not get. Words are made of it where it is shown. */
const refusal = z.object({
  at: z.iso.datetime(),
  worker: z.int(),
  source: z.literal('egress'),
  /** "unreached": the network did not lead to what is allowed. */
  result: z.enum(['refused', 'unreached']),
  /** "again": as before, so many times more. "others": different ones, too many to have a line each. */
  repeat: z.enum(['first', 'again', 'others']),
  count: z.int().min(1).max(1_000_000_000),
  /** Null when the request names no target, and for "others". */
  host: z.string().max(254).nullable(),
  port: z.int().min(1).max(65_535).nullable(),
  /** Null for "others". */
  reason: reason.nullable(),
  /** The entries of the allowlist that name the host. */
  rules: z.array(egressRule).readonly(),
  /** To which the name leads, when that is the reason. */
  address: z.string().max(45).nullable(),
  /** What the reason is about: the request, the other name, the system's error, the number of connections. */
  detail: z.string().max(400),
});
export type Refusal = Readonly<z.infer<typeof refusal>>;

/** Undefined for what is none. The line has passed through a container: what it says may be made up. */
export function readRefusal(line: string): Refusal | undefined {
  return readJson(refusal, line);
}
