import { BY_STATUS } from './model-trouble.ts';
import type { Trouble } from './model-trouble.ts';

/** An error as the CLI reports it. */
export interface Complaint {
  /** The CLI's own class of the error. */
  readonly error?: string | undefined;
  /** The HTTP status of the API's answer. */
  readonly status?: number | null;
  readonly text: string;
}

/** The text is tried first, because status and class are the same for an account's limit and a busy server. The first match counts. */
const BY_TEXT: readonly (readonly [RegExp, Trouble])[] = [
  [/not your usage limit/i, 'rate-limited'],
  [
    /usage limit reached|you've (hit|reached) your .*limit|out of (extra )?usage|your specified .*usage limits/i,
    'usage-limit',
  ],
  [/invalid api key|invalid x-api-key|not logged in|please run \/login/i, 'credentials'],
  [/oauth token (has )?(been )?(expired|revoked)|failed to authenticate|credit balance (is )?too low/i, 'credentials'],
  [/\b529\b|overloaded|rate_limit_error|request rejected \(429\)/i, 'rate-limited'],
];

const BY_ERROR: Readonly<Record<string, Trouble>> = {
  authentication_failed: 'credentials',
  oauth_org_not_allowed: 'credentials',
  billing_error: 'credentials',
  rate_limit: 'rate-limited',
  overloaded: 'rate-limited',
};

/** Null for any other error: that is the task's failure. */
export function troubleOf({ error, status, text }: Complaint): Trouble | null {
  const spoken = BY_TEXT.find(([pattern]) => pattern.test(text));
  return spoken?.[1] ?? BY_ERROR[error ?? ''] ?? BY_STATUS[status ?? 0] ?? null;
}

/** The end of a usage limit in the text of an error, where older versions and the API itself name it. */
export function resetIn(text: string): string | null {
  const epoch = /limit reached\|(\d{10})\b/.exec(text)?.[1];
  if (epoch !== undefined) return resetAt(Number(epoch));
  const [, day, time] = /regain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC/.exec(text) ?? [];
  return day === undefined || time === undefined ? null : `${day}T${time}:00.000Z`;
}

export function resetAt(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString();
}
