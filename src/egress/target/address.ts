import { isIPv4, isIPv6 } from 'node:net';

/** What kind of place an address is; only "public" ones may be reached by a name. */
export type AddressKind =
  | 'public'
  | 'private'
  | 'loopback'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'reserved'
  | 'unspecified';

/**
 * Pure. An address in the one form in which we compare and dial it, undefined when the text is none. IPv4 inside IPv6
 * (`::ffff:10.0.0.1`) is IPv4: the system would dial it so.
 */
export function readAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  // A zone ("fe80::1%eth0") names a network card of this machine, which workers do not reach.
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const bits = bitsOf(text);
  return bits >> 32n === 0xffffn ? v4At(bits, 96) : compressed(text);
}

/** IANA's special-purpose registries and where clouds keep credentials; the first that fits counts. */
const RANGES_V4 = ranges([
  ['169.254.169.254/32', 'metadata'],
  ['169.254.170.2/32', 'metadata'],
  ['169.254.170.23/32', 'metadata'],
  ['100.100.100.200/32', 'metadata'],
  ['168.63.129.16/32', 'metadata'],
  ['192.0.0.192/32', 'metadata'],
  ['0.0.0.0/8', 'unspecified'],
  ['10.0.0.0/8', 'private'],
  ['100.64.0.0/10', 'private'],
  ['127.0.0.0/8', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['172.16.0.0/12', 'private'],
  ['192.0.0.0/24', 'reserved'],
  ['192.0.2.0/24', 'reserved'],
  ['192.88.99.0/24', 'reserved'],
  ['192.168.0.0/16', 'private'],
  ['198.18.0.0/15', 'reserved'],
  ['198.51.100.0/24', 'reserved'],
  ['203.0.113.0/24', 'reserved'],
  ['224.0.0.0/4', 'multicast'],
  ['240.0.0.0/4', 'reserved'],
  ['0.0.0.0/0', 'public'],
]);

/** "at N": the kind of the IPv4 address that begins at bit N. */
const RANGES_V6 = ranges([
  ['::/128', 'unspecified'],
  ['::1/128', 'loopback'],
  ['::/96', 'at 96'],
  ['::ffff:0:0/96', 'at 96'],
  ['::ffff:0:0:0/96', 'at 96'],
  ['64:ff9b::/96', 'at 96'],
  ['64:ff9b:1::/48', 'private'],
  ['fd00:ec2::/32', 'metadata'],
  ['fd20:ce::/32', 'metadata'],
  ['fc00::/7', 'private'],
  ['fe80::/10', 'link-local'],
  ['fec0::/10', 'private'],
  ['ff00::/8', 'multicast'],
  ['2001::/23', 'reserved'],
  ['2001:db8::/32', 'reserved'],
  ['2002::/16', 'at 16'],
  ['3fff::/20', 'reserved'],
  ['2000::/3', 'public'],
  ['::/0', 'reserved'],
]);

/** Old tunnels into IPv4. An address in one has the kind of the IPv4 address in it, and is never public. */
const OLD_TUNNELS = ['::/96', '::ffff:0:0:0/96', '2002::/16'];

/** Pure, for what `readAddress` has returned. */
export function kindOf(address: string): AddressKind {
  const bits = bitsOf(address);
  const found = (isIPv4(address) ? RANGES_V4 : RANGES_V6).find(({ base, rest }) => (bits ^ base) >> rest === 0n);
  if (found === undefined) return 'reserved';
  if (!found.kind.startsWith('at ')) return found.kind as AddressKind;
  const inner = kindOf(v4At(bits, Number(found.kind.slice(3))));
  return inner === 'public' && OLD_TUNNELS.includes(found.range) ? 'reserved' : inner;
}

interface Range {
  readonly range: string;
  readonly base: bigint;
  /** Bits that may differ. */
  readonly rest: bigint;
  readonly kind: AddressKind | `at ${number}`;
}

function ranges(table: readonly (readonly [range: string, kind: Range['kind']])[]): Range[] {
  return table.map(([range, kind]) => {
    const [base = '', prefix] = range.split('/');
    return { range, base: bitsOf(base), rest: BigInt((isIPv4(base) ? 32 : 128) - Number(prefix)), kind };
  });
}

function bitsOf(address: string): bigint {
  const [numbers, width] = isIPv4(address) ? [address.split('.').map(Number), 8n] : [groupsOf(address), 16n];
  return numbers.reduce((bits, number) => (bits << width) | BigInt(number), 0n);
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [left = '', right = ''] = compressed(address).split('::');
  const [head = [], tail = []] = [left, right].map((part) =>
    part
      .split(':')
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16)),
  );
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

/** As RFC 5952 writes it, IPv4 endings in hexadecimal too. */
function compressed(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

/** The IPv4 address that begins at that bit of an IPv6 address. */
function v4At(bits: bigint, at: number): string {
  const number = bits >> BigInt(96 - at);
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 0xffn).join('.');
}
