import type { AgentVerdict } from './agent.ts';

/** Failures for which the task is not to blame: an account, a key, a busy server. */
export type Trouble = Extract<AgentVerdict['outcome'], 'rate-limited' | 'usage-limit' | 'credentials'>;

/** An error as an agent reports it. */
export interface Complaint {
  /** The HTTP status of the API's answer. */
  readonly status?: number | null | undefined;
  readonly text: string;
}

/** The text is tried first, because an account's limit and a busy server have the same status. The first match counts. */
const BY_TEXT: readonly (readonly [RegExp, Trouble])[] = [
  [
    /usage limit|insufficient_quota|exceeded your (current|monthly) quota|quota exceeded|daily (quota|limit)|out of credits/i,
    'usage-limit',
  ],
  [
    /api[ _]key not valid|invalid.*api[ _-]?key|incorrect api key|missing.*api[ _]key|api[ _]key.*(missing|must be set)|must specify .*api[ _]key/i,
    'credentials',
  ],
  [/unauthorized|not logged in|authentication|set an auth method|permission denied|credit balance/i, 'credentials'],
  [/rate.?limit|too many requests|overloaded|resource.{0,10}exhausted|high demand/i, 'rate-limited'],
];

export const BY_STATUS: Readonly<Record<number, Trouble>> = {
  401: 'credentials',
  403: 'credentials',
  429: 'rate-limited',
  529: 'rate-limited',
};

/** Of agents that ask models of several providers. Null for any other error: that is the task's failure. */
export function troubleIn({ status, text }: Complaint): Trouble | null {
  const spoken = BY_TEXT.find(([pattern]) => pattern.test(text));
  return spoken?.[1] ?? BY_STATUS[status ?? 0] ?? null;
}

/** The HTTP status that a text names. */
export function statusIn(text: string): number | null {
  const [, status] = /\b(?:status|code|http)\D{0,12}([45]\d\d)\b/i.exec(text) ?? [];
  return status === undefined ? null : Number(status);
}

/** When a usage limit ends: Codex says it in the time of its machine, which is ours. */
export function resetIn(text: string): string | null {
  const [, day, year, time] =
    /try again at ([A-Z][a-z]{2} \d{1,2})\w{2}, (\d{4}) (\d{1,2}:\d{2} [AP]M)/.exec(text) ?? [];
  const at = Date.parse(`${day} ${year} ${time}`);
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}

/** No answer, or that of a proxy: the egress proxy answers 502 when a target is not reached. */
const NO_ANSWER =
  /\b50[24]\b|connection|(cannot|unable to) connect|error sending request|fetch failed|disconnected|dns|timed? ?out/i;

/** Why requests are sent again: the same words for each try. */
export function retryWords({ status, text }: Complaint, title: string): string {
  if (NO_ANSWER.test(text)) return `the model cannot be reached; ${title} tries again`;
  return `requests to the model fail${status === null || status === undefined ? '' : ` (${status})`}; ${title} tries again`;
}
