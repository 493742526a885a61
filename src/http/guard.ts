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

/** Throws when this request is not to be answered. */
export function checkRequest({ headers }: FastifyRequest, guarding: Guarding): void {
  const { tokens, origins, isPublic } = guarding;
  // A page of any site can make a browser ask this machine; by a name of its own it would even be let read the answer.
  if (!isPublic && !isLocalName(headers.host ?? '')) throw httpErrors.HOST_REFUSED({ host: headers.host ?? '' });
  const { origin } = headers;
  if (origin !== undefined && !origins.includes(origin) && !/^https?:$/.test(origin.replace(`//${headers.host}`, '')))
    throw httpErrors.ORIGIN_REFUSED({ origin });
  if (tokens === null) return;
  const [, token = ''] = /^Bearer ([^\s]+)$/.exec(headers.authorization ?? '') ?? [];
  if (!isKnown(tokens, token)) throw httpErrors.TOKEN_REFUSED({});
}

const isLocalName = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, all of them, so that the time tells nothing. */
function isKnown(tokens: ReadonlyMap<string, string>, token: string): boolean {
  const asked = digest(token);
  return [...tokens.keys()].filter((known) => timingSafeEqual(digest(known), asked)).length > 0;
}
