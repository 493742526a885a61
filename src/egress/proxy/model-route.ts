import type { Transform } from 'node:stream';
import { modelAccess } from '../../protocol/index.ts';
import type { EgressRule, ModelAccess } from '../../protocol/index.ts';
import { readHost } from '../target/index.ts';
import type { HttpTarget, Target } from '../target/index.ts';
import { headersToPassOn } from './headers.ts';
import type { PassedHeaders } from './headers.ts';
import { maskingStream, maskIn, secretsOf } from './redact-body.ts';

/** All that Claude Code asks the model's server for. Others could show what else the account has, or make a new key of it. */
const ASKED = [
  /^POST \/v1\/messages(\/count_tokens)?(\?[^#]*)?$/,
  /^GET \/v1\/models(\/\w[\w.:@-]*)?(\?[^#]*)?$/,
  /^HEAD \/$/,
];

/** What a client may say beside its body; everything else could prove another identity, or name another server to a gateway. */
const PASSED =
  /^(accept|accept-language|content-type|content-encoding|user-agent|x-app|anthropic-(version|beta|dangerous-direct-browser-access)|x-(stainless|claude)-[a-z-]+)$/;

/** Headers of an answer that are for the one who holds the credentials. */
const KEPT_BACK = new Set(['set-cookie', 'set-cookie2', 'authorization', 'x-api-key', 'cookie']);

/** The one way on which credentials are added: to one server, and for the requests of an agent to its model. */
export interface ModelRoute {
  readonly target: Target;
  readonly secure: boolean;
  /** The target alone is allowed. */
  readonly rules: readonly EgressRule[];
  /** Where a request goes; undefined when it does not go on. */
  read(method: string, url: string): HttpTarget | undefined;
  /** The headers of a request, with the credentials in place of what the client has sent. */
  request(raw: readonly string[]): PassedHeaders;
  /** The headers of an answer, without credentials. */
  answer(raw: readonly string[]): PassedHeaders;
  /** An answer's body goes through it. */
  mask(): Transform;
}

export function modelRoute(access: ModelAccess): ModelRoute {
  const url = new URL(access.url);
  const host = readHost(url.hostname);
  if (host === undefined) throw new Error('the model has no address');
  const secure = url.protocol === 'https:';
  const port = Number(url.port === '' ? (secure ? 443 : 80) : url.port);
  const target: Target = { ...host, port };
  const base = url.pathname.replace(/\/+$/, '');
  const secrets = secretsOf(access.headers);
  return {
    target,
    secure,
    rules: [{ host: target.host, covers: 'host', ports: [port], trustedPrivate: true }],
    read: (method, asked) =>
      ASKED.some((form) => form.test(`${method} ${asked}`)) ? { target, path: `${base}${asked}` } : undefined,
    request: (raw) => withCredentials(raw, access),
    answer: (raw) => withoutCredentials(raw, secrets),
    mask: () => maskingStream(secrets),
  };
}

function withCredentials(raw: readonly string[], { headers, betas }: ModelAccess): PassedHeaders {
  const kept = new Map([...headersToPassOn(raw)].filter(([name]) => PASSED.test(name)));
  const named = (kept.get('anthropic-beta') ?? []).flatMap((value) => value.split(',')).map((name) => name.trim());
  const all = [...new Set([...named, ...betas])].filter((name) => name !== '');
  if (all.length > 0) kept.set('anthropic-beta', [all.join(',')]);
  // What is packed could not be searched for credentials.
  kept.set('accept-encoding', ['identity']);
  for (const [name, value] of Object.entries(headers)) kept.set(name, [value]);
  return kept;
}

function withoutCredentials(raw: readonly string[], secrets: readonly Buffer[]): PassedHeaders {
  const kept = [...headersToPassOn(raw)].filter(([name]) => !KEPT_BACK.has(name));
  const masked = (value: string): string => maskIn(Buffer.from(value, 'latin1'), secrets).toString('latin1');
  return new Map(kept.map(([name, values]) => [name, values.map(masked)]));
}

/** Reads the line that the proxy gets. The error does not quote it. */
export function readModelAccess(line: string): ModelAccess {
  try {
    return modelAccess.parse(JSON.parse(line));
  } catch {
    throw new Error('its access to the model cannot be read');
  }
}
