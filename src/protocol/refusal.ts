import * as z from 'zod/mini';
import { readJson } from '../lib/text/json.ts';
import { egressRule } from './egress.ts';

/** Why a request failed. With the last two reasons the allowlist has let it through. */
const reason = z.enum([
  'not-listed',
  'other-port',
  'leads-inside',
  'not-for-proxies',
  'not-for-the-model',
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

/** A line of the egress proxy's log about a failed request. It is put into words where it is shown. */
const refusal = z.object({
  at: z.iso.datetime(),
  worker: z.int(),
  source: z.literal('egress'),
  /** "unreached": it is allowed, and the network did not reach it. */
  result: z.enum(['refused', 'unreached']),
  /** "again": the same, `count` times more. "others": `count` different ones, too many for a line each. */
  repeat: z.enum(['first', 'again', 'others']),
  count: z.int().check(z.minimum(1), z.maximum(1_000_000_000)),
  /** Null when the request names no target, and for "others". */
  host: z.nullable(z.string().check(z.maxLength(254))),
  port: z.nullable(z.int().check(z.minimum(1), z.maximum(65_535))),
  /** Null for "others". */
  reason: z.nullable(reason),
  /** The entries of the allowlist that name the host. */
  rules: z.readonly(z.array(egressRule)),
  /** The address that the name leads to, when that is the reason. */
  address: z.nullable(z.string().check(z.maxLength(45))),
  /** Depends on the reason: the request, the other name, the system's error, the number of connections. */
  detail: z.string().check(z.maxLength(400)),
});
export type Refusal = Readonly<z.infer<typeof refusal>>;

/** Undefined for other text. The line comes from a container, so its content may be forged. */
export function readRefusal(line: string): Refusal | undefined {
  return readJson(refusal, line);
}
