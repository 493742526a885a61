import type { FastifyError } from 'fastify';
import { AppError, asAppError, hasCode } from '../lib/index.ts';
import { httpErrors } from './errors.ts';

/** The statuses of errors that are not the plain ones of their kind. */
const STATUS: Readonly<Record<string, number>> = {
  SESSION_UNKNOWN: 404,
  FILE_MISSING: 404,
  SESSION_ENDED: 410,
  SESSION_BUSY: 409,
  CACHE_BUSY: 409,
  CACHE_TOO_LARGE: 409,
  SESSIONS_FULL: 503,
  BODIES_FULL: 503,
  LANGUAGE_UNKNOWN: 404,
  RUNNER_BUSY: 429,
  PROGRAM_REFUSED: 503,
  TOKEN_REFUSED: 401,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,
  COMMAND_DENIED: 403,
  NETWORK_REFUSED: 403,
  SESSION_UNABLE: 501,
  TREE_TOO_LARGE: 422,
  RATE_LIMITED: 429,
  SOCKETS_FULL: 429,
  ANSWERS_FULL: 503,
  NO_SOCKET: 404,
  UPGRADE_NEEDED: 426,
};
const RETRY_SECONDS = '5';

interface Refused {
  readonly error: AppError;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: { readonly detail: string; readonly code: string; readonly hint: string };
}

/** What is answered in place of a success. */
export function refusalOf(error: unknown): Refused {
  const known = asKnown(error);
  const status = statusOf(known, error);
  const { message: detail, code, hint } = known;
  return { error: known, status, headers: headersFor(status, known), body: { detail, code, hint } };
}

function headersFor(status: number, error: AppError): Record<string, string> {
  if (hasCode(error, httpErrors.RATE_LIMITED)) return { 'retry-after': String(error.facts.seconds) };
  if (status === 401) return { 'www-authenticate': 'Bearer' };
  if (status === 426) return { upgrade: 'websocket' };
  return status === 503 || status === 429 ? { 'retry-after': RETRY_SECONDS } : {};
}

/** An error of fastify's own says what is wrong with the request, by its status. */
function asKnown(error: unknown): AppError {
  const { statusCode = 500, message } = error as Partial<FastifyError>;
  if (error instanceof AppError || statusCode >= 500) return asAppError(error);
  return httpErrors.BODY_INVALID({ where: 'request', problems: [String(message)] });
}

function statusOf(known: AppError, error: unknown): number {
  const { statusCode } = error as Partial<FastifyError>;
  if (!(error instanceof AppError) && statusCode !== undefined) return statusCode;
  return STATUS[known.code] ?? (known.exit === 2 ? 400 : 500);
}
