import type { Refusal, RefusalReason } from '../../protocol/index.ts';
import { kindOf, readAddress } from './address.ts';
import type { AddressKind } from './address.ts';
import { targetText } from './target.ts';

/** What was refused, or could not be reached, and why; without when and how often. */
export type Refused = Omit<Refusal, 'at' | 'worker' | 'source' | 'repeat' | 'count'>;

/** Pure. A refusal in one line, for people. */
export function refusalText(refusal: Refusal): string {
  const { repeat, count } = refusal;
  const times = `${count} ${count === 1 ? 'time' : 'times'}`;
  if (repeat === 'others') return `${VERB[refusal.result]} more that is not listed here, ${times}`;
  return repeat === 'again' ? `${whatText(refusal)} again, ${times}` : `${whatText(refusal)}: ${reasonText(refusal)}`;
}

const VERB = { refused: 'refused', unreached: 'could not reach' } as const;

/** Pure. What was refused, without the reason. */
export function whatText(refused: Refused): string {
  return `${VERB[refused.result]} ${askedFor(refused)}`;
}

/** Pure. What the worker has asked for: "example.com:443", or a request that names no target. */
export function askedFor({ host, port, detail }: Refused): string {
  return host === null || port === null ? detail : targetText({ host, port });
}

const KIND_TEXT: Readonly<Record<AddressKind, string>> = {
  public: 'a public address',
  private: 'a private address',
  loopback: "the proxy's own loopback",
  'link-local': 'a link-local address',
  metadata: "a cloud's metadata service",
  multicast: 'a multicast address',
  reserved: 'a reserved address',
  unspecified: 'no address at all',
};

const REASON_TEXT: Readonly<Record<RefusalReason, (refused: Refused) => string>> = {
  'not-listed': () => 'not on the allowlist',
  'other-port': ({ rules }) =>
    `the allowlist has this host only for port ${[...new Set(rules.flatMap(({ ports }) => ports))].join(', ')}`,
  'leads-inside': ({ address }) => `the name leads to ${placeText(address ?? '')}`,
  'not-for-proxies': () => 'this is not what one asks a proxy for',
  'not-for-the-model': () =>
    'with credentials that the proxy adds, only the requests of Claude Code for its model are passed on',
  upgrade: () => 'plain HTTP connections cannot be upgraded here',
  'too-many-connections': ({ detail }) => `this worker has ${detail} connections already`,
  'not-tls': () => 'what is said in the tunnel is not TLS',
  'unreadable-greeting': () => 'its TLS greeting cannot be read',
  'hidden-server-name': () => 'its TLS greeting may hide another name (encrypted client hello)',
  'no-server-name': () => 'its TLS greeting names no server',
  'other-server-name': ({ detail }) => `its TLS greeting asks for another server, ${detail}`,
  'no-address': ({ detail }) => `the name has no address (${detail})`,
  unreachable: ({ detail }) => detail,
};

/** Pure. Why it was refused. */
export function reasonText(refused: Refused): string {
  return refused.reason === null ? '' : REASON_TEXT[refused.reason](refused);
}

/** The address may be made up: it comes from the log of a container. */
function placeText(address: string): string {
  const known = readAddress(address);
  return `${address}, ${known === undefined ? 'no address' : KIND_TEXT[kindOf(known)]}`;
}
