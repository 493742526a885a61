import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { httpErrors } from './errors.ts';

export interface Guarding {
  /** Who may ask, by token; null: no token is asked for. */
  readonly tokens: ReadonlyMap<string, string> | null;
  /** Origins of pages that may ask. */
  readonly origins: readonly string[];
  /** Every name may be asked by: the server is meant to be reached from elsewhere. */
  readonly isPublic: boolean;
}

/** Throws when this request is not to be answered. Returns the user that asks. */
export function checkRequest({ headers }: FastifyRequest, guarding: Guarding): string {
  const { tokens, origins, isPublic } = guarding;
  // A page of any site can make a browser ask this machine; by a name of its own it would even be let read the answer.
  if (!isPublic && !isLocalName(headers.host ?? '')) throw httpErrors.HOST_REFUSED({ host: headers.host ?? '' });
  const { origin } = headers;
  if (origin !== undefined && !origins.includes(origin) && !/^https?:$/.test(origin.replace(`//${headers.host}`, '')))
    throw httpErrors.ORIGIN_REFUSED({ origin });
  if (tokens === null) return 'local';
  const [, token = ''] = /^Bearer ([^\s]+)$/.exec(headers.authorization ?? '') ?? [];
  const user = userOf(tokens, token);
  if (user === undefined) throw httpErrors.TOKEN_REFUSED({});
  return user;
}

const isLocalName = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, all of them, so that the time tells nothing. */
function userOf(tokens: ReadonlyMap<string, string>, token: string): string | undefined {
  const asked = digest(token);
  let found: string | undefined;
  for (const [known, user] of tokens) if (timingSafeEqual(digest(known), asked)) found = user;
  return found;
}
