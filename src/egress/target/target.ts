import { readAddress } from './address.ts';

/** Where a client wants to go. */
export interface Target {
  /** A name in lower case without a last dot, or an address as `readAddress` writes it. */
  readonly host: string;
  readonly port: number;
  readonly isAddress: boolean;
}

export interface HttpTarget {
  readonly target: Target;
  readonly path: string;
}

/** Letters, digits, dash, dot, underscore: clients send names of other scripts in their ASCII form. */
const PLAIN_HOST = /^[A-Za-z0-9._-]{1,254}$/;
const AUTHORITY = /^(\[[0-9A-Fa-f:.]{2,45}\]|[^[\]:]+)(?::(\d{1,5}))?$/;
const ABSOLUTE_URI = /^http:\/\/([^/?#]*)([^#]*)$/i;

/** Pure. A host as the list and the dialling know it; undefined when it is none. Odd notations of IPv4 come out plain. */
export function readHost(text: string): Pick<Target, 'host' | 'isAddress'> | undefined {
  if (text.startsWith('[')) {
    const address = /^\[.*:.*\]$/.test(text) ? readAddress(text.slice(1, -1)) : undefined;
    return address === undefined ? undefined : { host: address, isAddress: true };
  }
  if (!PLAIN_HOST.test(text) || !URL.canParse(`http://${text}/`)) return undefined;
  // The URL standard reads 0x7f.1, 2130706433 and 127.0.0.1. as what old resolvers make of them.
  const host = new URL(`http://${text}/`).hostname.replace(/\.$/, '');
  if (host === '' || host.split('.').includes('')) return undefined;
  const address = readAddress(host);
  return { host: address ?? host, isAddress: address !== undefined };
}

/** Pure. `name:port`, `1.2.3.4:port` or `[v6]:port`. */
export function readAuthority(text: string, defaultPort?: number): Target | undefined {
  const [, hostText = '', portText] = AUTHORITY.exec(text) ?? [];
  const host = readHost(hostText);
  const port = portText === undefined ? defaultPort : Number(portText);
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined;
  return { ...host, port };
}

/** Pure. `http://host[:port]/path`: the form in which plain HTTP asks a proxy. No name and password are in it. */
export function readAbsoluteUri(text: string): HttpTarget | undefined {
  const [, authority = '', rest = ''] = ABSOLUTE_URI.exec(text) ?? [];
  const target = readAuthority(authority, 80);
  if (target === undefined) return undefined;
  return { target, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** Pure. What is asked for in a tunnel to that target: a path, or the same target's whole address. */
export function readOriginForm(text: string, target: Target): HttpTarget | undefined {
  if (text.startsWith('/')) return { target, path: text };
  const to = readAbsoluteUri(text);
  return to !== undefined && targetText(to.target) === targetText(target) ? to : undefined;
}

/** Pure. `name:port`, or `[v6]:port`. */
export function targetText({ host, port }: Pick<Target, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
