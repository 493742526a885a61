import { z } from 'zod';
import { AppError, readJson, reasonOf, systemCode } from '../../lib/index.ts';
import { engineErrors } from '../errors.ts';

/** What was asked of which engine: every message names both. */
interface Asked {
  /** In words that follow "could not": "start container web". */
  readonly what: string;
  readonly place: string;
}

const UNKNOWN_SIGNER = 'no known authority has signed its certificate; is ca.pem of that engine there?';

const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such socket',
  ENOTSOCK: 'that is not a socket',
  ECONNREFUSED: 'nothing listens there',
  EACCES: 'you have no right to use it; is your user in its group ("docker")?',
  EPERM: 'you have no right to use it; is your user in its group ("docker")?',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'its name cannot be resolved now',
  EHOSTUNREACH: 'no way to that host',
  ENETUNREACH: 'no way to that network',
  ETIMEDOUT: 'that host does not answer',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_SIGNER,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_SIGNER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_SIGNER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_SIGNER,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

/** OpenSSL's own words are numbers and source files. */
const TLS_REASON = 'no secure connection with it; does it want a client certificate (cert.pem and key.pem)?';

/** What went wrong on the way to the engine or back. */
export function connectionError(error: unknown, { what, place }: Asked): AppError {
  if (error instanceof AppError) return error;
  const code = systemCode(error) ?? '';
  const reason = CONNECTION_REASONS[code] ?? (code.startsWith('ERR_SSL_') ? TLS_REASON : undefined);
  if (reason === undefined) {
    return engineErrors.ENGINE_FAILED({ call: what, reason: reasonOf(error) }, { cause: error });
  }
  return engineErrors.ENGINE_UNREACHABLE({ tried: [`${place}: ${reason}`] }, { cause: error });
}

/** The result of reading an answer; an answer that ends before it is complete is a broken connection. */
export async function whole<Result>({ what, place }: Asked, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw connectionError(error, { what, place });
    const tried = [`${place}: it closed the connection while it was asked to ${what}`];
    throw engineErrors.ENGINE_UNREACHABLE({ tried }, { cause: error });
  }
}

/** While it shuts down, an engine closes its list of volumes first and still answers. */
const SHUTTING_DOWN = /\bdatabase not open$/;

/** The engine has answered, and refuses. */
export function refusal({ what, place }: Asked, reason: string): AppError {
  if (SHUTTING_DOWN.test(reason))
    return engineErrors.ENGINE_UNREACHABLE({ tried: [`${place}: it is shutting down, and could not ${what}`] });
  return engineErrors.ENGINE_FAILED({ call: what, reason });
}

/** The engine's own words in a refusal. */
export function reasonIn(body: string, status: number): string {
  const text = messageIn(body).trim().replace(/\.$/, '');
  return text === '' ? `HTTP status ${status}` : text;
}

const Refusal = z.object({ message: z.string() });

/** A proxy on the way may answer in plain words. */
function messageIn(body: string): string {
  return readJson(Refusal, body)?.message ?? body;
}
