import { lookup } from 'node:dns/promises';
import { sleep } from '../../lib/index.ts';
import type { EgressRule } from '../../protocol/index.ts';
import { kindOf, permissionFor, readAddress, targetText } from '../target/index.ts';
import type { AddressKind, Permission, Target } from '../target/index.ts';

/** The addresses of a name; rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Why a client gets no further: `status` and `advice` are for it, `reason` is for the log too. */
export interface Denial {
  readonly status: 400 | 403 | 502 | 503;
  readonly reason: string;
  readonly advice: string;
}

export type Admission = { readonly addresses: readonly string[] } | { readonly denial: Denial };

const SETTING = 'workers.container.allow in .mahabharatha/config.yaml';
const RESOLVE_MS = 10_000;

/** Asks the machine's resolver, hosts file included. */
export const resolveName: Resolve = async (name) => {
  const over = new AbortController();
  try {
    const answer = lookup(name, { all: true, verbatim: true });
    const found = await Promise.race([answer, sleep(RESOLVE_MS, over.signal)]);
    if (found === undefined) throw new Error(`no answer within ${RESOLVE_MS / 1000} s`);
    // Bridge networks seldom have IPv6.
    return found.toSorted((one, other) => one.family - other.family).map(({ address }) => address);
  } finally {
    over.abort();
  }
};

/**
 * May this target be reached, and at which addresses? The name is resolved here, once: who dials must use these
 * addresses and no others, or the second answer of a name server could be another one.
 */
export async function admit(rules: readonly EgressRule[], target: Target, resolve: Resolve): Promise<Admission> {
  const permission = permissionFor(rules, target);
  if (!permission.allowed) return { denial: notListed(target, permission.otherPorts) };
  // An address on the list stands for itself, wherever it is: the user wrote exactly that.
  if (target.isAddress) return { addresses: [target.host] };
  const found = await resolve(target.host).catch((error: unknown) => codeOf(error));
  if (typeof found === 'string') return { denial: notFound(target, found) };
  const all = found.flatMap((address) => readAddress(address) ?? []);
  const addresses = all.filter((address) => mayLeadTo(kindOf(address), permission));
  return addresses.length > 0 ? { addresses } : { denial: leadsInside(target, all[0] ?? '') };
}

/** A name in the user's own configuration of another tool may lead into his network, but not into our own container. */
const TRUSTED: ReadonlySet<AddressKind> = new Set(['public', 'private', 'reserved'] as const);

function mayLeadTo(kind: AddressKind, permission: Permission & { allowed: true }): boolean {
  return permission.trustedPrivate ? TRUSTED.has(kind) : kind === 'public';
}

function notListed(target: Target, otherPorts: readonly number[]): Denial {
  const entry = target.isAddress || ![443, 80].includes(target.port) ? targetText(target) : target.host;
  const advice = `To allow it, add "${entry}" to ${SETTING}.`;
  if (otherPorts.length === 0) return { status: 403, reason: 'not on the allowlist', advice };
  return { status: 403, reason: `the allowlist has this host only for port ${otherPorts.join(', ')}`, advice };
}

const IN_WORDS: Readonly<Record<AddressKind, string>> = {
  public: 'a public address',
  private: 'a private address',
  loopback: "the proxy's own loopback",
  'link-local': 'a link-local address',
  metadata: "a cloud's metadata service",
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  unspecified: 'no address at all',
};

function leadsInside(target: Target, address: string): Denial {
  if (address === '') return notFound(target, 'no address');
  const kind = kindOf(address);
  const place = targetText({ host: address, port: target.port });
  const advice = TRUSTED.has(kind)
    ? `If you mean that address, add "${place}" to ${SETTING} and use it in place of the name.`
    : 'Names may not lead there.';
  return { status: 403, reason: `the name leads to ${address}, ${IN_WORDS[kind]}`, advice };
}

function notFound(target: Target, cause: string): Denial {
  return { status: 502, reason: `the name has no address (${cause})`, advice: `Is ${target.host} the right name?` };
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.message : String(error);
}
