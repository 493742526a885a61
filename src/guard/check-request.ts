import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { guardErrors } from './errors.ts';

export interface Guarding {
  /** Who may ask, by token; null: no token is asked for. */
  readonly tokens: ReadonlyMap<string, string> | null;
  /** Origins of pages that may ask. */
  readonly origins: readonly string[];
  readonly names: Names;
}

/**
 * By what names the server may be asked. "any": who asks has a token, which a page that has tricked a browser has not.
 * "own": addresses and this machine's name, which no other site can have. "local": those of this machine alone.
 */
export type Names = 'any' | 'own' | 'local';

/** `host`: where the server listens. */
export function guardingOf(host: string, tokens: Guarding['tokens'], origins: readonly string[]): Guarding {
  const open = isOfThisMachine(host) ? 'local' : 'own';
  return { tokens, origins, names: tokens === null ? open : 'any' };
}

/** Who asks a server without tokens. */
const ANYONE = 'local';
/** What a page offers as the name of a protocol of its socket, because it can set no header. */
const BEARER_PROTOCOL = 'bearer.';

/** The user who asks. Throws when this request is not to be answered. */
export function checkRequest(request: IncomingMessage, guarding: Guarding): string {
  checkSender(request, guarding);
  const [, token = ''] = /^Bearer +([^\s]+)$/i.exec(request.headers.authorization ?? '') ?? [];
  return userOf(guarding.tokens, token);
}

/** Who a request's room is counted for: without tokens that is the address that it comes from. */
export const accountOf = ({ tokens }: Guarding, user: string, { socket }: IncomingMessage): string =>
  tokens === null ? `address ${socket.remoteAddress ?? ''}` : user;

/** The same for a request that opens a web socket. */
export function checkUpgrade(request: IncomingMessage, guarding: Guarding): string {
  if (request.headers.authorization !== undefined) return checkRequest(request, guarding);
  checkSender(request, guarding);
  const offered = protocolsOf(request).find((name) => name.startsWith(BEARER_PROTOCOL)) ?? '';
  return userOf(guarding.tokens, decoded(offered.slice(BEARER_PROTOCOL.length)));
}

export const protocolsOf = ({ headers }: IncomingMessage): readonly string[] =>
  (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());

/** Throws when the Host or the Origin of a request is refused; tokens do not matter here. */
export function checkSender({ headers, rawHeaders, url = '/' }: IncomingMessage, { origins, names }: Guarding): void {
  const host = headers.host ?? '';
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  // A page of any site can make a browser ask this machine; by a name of its own it would even be let read the answer.
  // A whole address in place of a path is what proxies are sent; it has a name of its own.
  if (!url.startsWith('/')) throw guardErrors.HOST_REFUSED({ host: url.slice(0, 200) });
  if (hosts.length > 1 || !mayBeNamed(host, names)) throw guardErrors.HOST_REFUSED({ host });
  const { origin } = headers;
  if (origin === undefined || origins.includes(origin)) return;
  if (origin !== `http://${host}` && origin !== `https://${host}`) throw guardErrors.ORIGIN_REFUSED({ origin });
}

function mayBeNamed(host: string, names: Names): boolean {
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
  const isOwn = isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 || name === hostname().toLowerCase();
  return names === 'any' || isLocalName(host) || (names === 'own' && isOwn);
}

const isLocalName = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);

/** Whether only programs of this machine reach a server on this address. */
export const isOfThisMachine = (address: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1)$/.test(address);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, all of them, so that the time tells nothing. */
function userOf(tokens: Guarding['tokens'], token: string): string {
  if (tokens === null) return ANYONE;
  const asked = digest(token);
  const [found] = [...tokens].filter(([known]) => timingSafeEqual(digest(known), asked));
  if (found === undefined) throw guardErrors.TOKEN_REFUSED({});
  return found[1];
}
