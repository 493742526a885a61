import { z } from 'zod';
import type { Credentials } from '../protocol/index.ts';
import { credentialErrors } from './errors.ts';

/** The credentials for an agent, and where they were found. */
export interface AgentCredentials {
  /** For people: the name of a variable, a file, or the keychain. Never the value. */
  readonly source: string;
  readonly env: Readonly<Record<string, string>>;
  readonly files: Credentials['agent']['files'];
  /** Values that must not be shown. */
  readonly secrets: readonly string[];
  /** When the server will refuse them; null when that is not known. */
  readonly expiresAt: string | null;
  readonly expired: boolean;
}

/** The CLI's name for the file in its configuration folder. */
export const CREDENTIALS_FILE = '.credentials.json';

const storedLogin = z.object({
  claudeAiOauth: z.looseObject({ accessToken: z.string().nullish(), expiresAt: z.number().nullish() }).nullish(),
});

const MAX_TIME = 8.64e15;

/**
 * Reads a login as Claude Code stores it; undefined when there is none. The refresh token is left out, because it can be
 * used only once: the first worker that uses it would log out all others and the user. Tokens for other servers, which
 * the file may have too, are left out as well.
 */
export function readLogin(source: string, text: string, now: number): AgentCredentials | undefined {
  const parsed = storedLogin.safeParse(parseJson(source, text));
  if (!parsed.success) {
    const places = parsed.error.issues.map(({ path }) => path.join('.') || 'the whole');
    throw credentialErrors.CREDENTIALS_INVALID({ source, reason: `not as it should be: ${places.join(', ')}` });
  }
  const login = parsed.data.claudeAiOauth;
  const token = login?.accessToken ?? '';
  if (login === null || login === undefined || token === '') return undefined;
  const kept = Object.fromEntries(Object.entries(login).filter(([key]) => !/refresh/i.test(key)));
  const end = login.expiresAt ?? null;
  return {
    source,
    env: {},
    files: [{ path: CREDENTIALS_FILE, content: `${JSON.stringify({ claudeAiOauth: kept })}\n` }],
    secrets: secretsIn(kept),
    expiresAt: end === null || Math.abs(end) > MAX_TIME ? null : new Date(end).toISOString(),
    expired: end !== null && end <= now,
  };
}

/** The error has no cause: a parser's message quotes the content, which is secret. */
function parseJson(source: string, text: string): unknown {
  try {
    return JSON.parse(fromHex(text.trim()));
  } catch {
    throw credentialErrors.CREDENTIALS_INVALID({ source, reason: 'it is not JSON' });
  }
}

/** The macOS program `security` prints a text that is not plain ASCII in this way. */
function fromHex(text: string): string {
  return /^(?:[0-9a-f]{2})+$/i.test(text) ? Buffer.from(text, 'hex').toString('utf8') : text;
}

function secretsIn(login: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(login).flatMap(([key, value]) =>
    typeof value === 'string' && /token|secret|key/i.test(key) ? [value] : [],
  );
}
