import { lookup } from 'node:dns/promises';
import { inSeconds, reasonOf, systemCode, within } from '../../lib/index.ts';
import type { EgressRule } from '../../protocol/index.ts';
import { kindOf, permissionFor, readAddress } from '../target/index.ts';
import type { AddressKind, Permission, Target } from '../target/index.ts';
import { TRUSTED } from './denial.ts';
import type { Denial } from './denial.ts';

/** The addresses of a name; rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Admission = { readonly addresses: readonly string[] } | { readonly denial: Denial };

const RESOLVE_MS = 10_000;

/** Asks the machine's resolver, hosts file included. */
export const resolveName: Resolve = async (name) => {
  const found = await within(RESOLVE_MS, lookup(name, { all: true, verbatim: true }));
  if (found === undefined) throw new Error(`no answer within ${inSeconds(RESOLVE_MS)}`);
  // Bridge networks seldom have IPv6.
  return found.toSorted((one, other) => one.family - other.family).map(({ address }) => address);
};

/**
 * May this target be reached, and at which addresses? The name is resolved here, once: connections go to these addresses
 * only, because a name server could give other ones when it is asked again.
 */
export async function admit(rules: readonly EgressRule[], target: Target, resolve: Resolve): Promise<Admission> {
  const permission = permissionFor(rules, target);
  if (!permission.allowed) {
    return { denial: { reason: permission.rules.length === 0 ? 'not-listed' : 'other-port', target } };
  }
  // An address on the list stands for itself, wherever it is: the user wrote exactly that.
  if (target.isAddress) return { addresses: [target.host] };
  const found = await resolve(target.host).catch((error: unknown) => systemCode(error) ?? reasonOf(error));
  if (typeof found === 'string') return { denial: { reason: 'no-address', target, detail: found } };
  const all = found.flatMap((address) => readAddress(address) ?? []);
  const addresses = all.filter((address) => mayLeadTo(kindOf(address), permission));
  if (addresses.length > 0) return { addresses };
  const [address] = all;
  if (address === undefined) return { denial: { reason: 'no-address', target, detail: 'no address' } };
  return { denial: { reason: 'leads-inside', target, address } };
}

function mayLeadTo(kind: AddressKind, { trustedPrivate }: Permission): boolean {
  return trustedPrivate ? TRUSTED.has(kind) : kind === 'public';
}
