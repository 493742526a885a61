import type { RefusalReason } from '../../protocol/index.ts';
import { kindOf, targetText } from '../target/index.ts';
import type { AddressKind, Refused, Target } from '../target/index.ts';

/** Why a request is refused. */
export interface Denial {
  readonly reason: RefusalReason;
  /** Undefined when the request names none. */
  readonly target: Target | undefined;
  /** The address that the name leads to, when that is the reason. */
  readonly address?: string;
  readonly detail?: string;
}

/** A name in the user's own configuration of another tool may lead to these; an address of them may be listed. */
export const TRUSTED: ReadonlySet<AddressKind> = new Set(['public', 'private', 'reserved'] as const);

const SETTING = 'workers.container.allow in .mahabharatha/config.yaml';

interface Reply {
  readonly status: 400 | 403 | 502 | 503;
  /** What the client can do. */
  readonly advice: string;
}

const NO_ENTRY = ({ target }: Denial): Reply => ({
  status: 403,
  advice: `To allow it, add "${target === undefined ? '' : entryFor(target)}" to ${SETTING}.`,
});
const OTHER_NAME: Reply = { status: 403, advice: 'The name of the tunnel and the name in it must be one.' };

const REPLIES: Readonly<Record<RefusalReason, Reply | ((denial: Denial) => Reply)>> = {
  'not-listed': NO_ENTRY,
  'other-port': NO_ENTRY,
  'leads-inside': ({ target, address = '' }) => ({
    status: 403,
    advice: TRUSTED.has(kindOf(address))
      ? `If you mean that address, add "${targetText({ host: address, port: target?.port ?? 0 })}" to ${SETTING} and use it in place of the name.`
      : 'Names may not lead there.',
  }),
  'not-for-proxies': {
    status: 400,
    advice: 'It does CONNECT host:port, and plain HTTP with the whole address (http://host/path).',
  },
  // Never 401 or 403, which an agent takes for the model's answer to its credentials.
  'not-for-the-model': {
    status: 400,
    advice: 'For other requests of this agent to that host: workers.container.credentials: handover.',
  },
  upgrade: { status: 403, advice: 'Use the encrypted form (wss://, https://).' },
  'too-many-connections': { status: 503, advice: 'Close some, or open fewer at a time.' },
  'not-tls': { status: 403, advice: 'Only TLS can be examined there.' },
  'unreadable-greeting': OTHER_NAME,
  'hidden-server-name': OTHER_NAME,
  'no-server-name': OTHER_NAME,
  'other-server-name': OTHER_NAME,
  'no-address': ({ target }) => ({ status: 502, advice: `Is ${target?.host} the right name?` }),
  unreachable: { status: 502, advice: 'It is allowed, but it does not answer.' },
};

function entryFor(target: Target): string {
  return target.isAddress || ![443, 80].includes(target.port) ? targetText(target) : target.host;
}

/** What the client is answered, and what the log says. */
export interface Answer extends Reply {
  readonly refused: Refused;
}

/** Pure. `rules` are the entries of the allowlist that name the host. */
export function answerTo(denial: Denial, rules: Refused['rules']): Answer {
  const { reason, target, address = null, detail = '' } = denial;
  const known = REPLIES[reason];
  const reply = typeof known === 'function' ? known(denial) : known;
  const { host = null, port = null } = target ?? {};
  const result = reply.status === 502 ? 'unreached' : 'refused';
  return { ...reply, refused: { result, host, port, reason, rules, address, detail: printable(detail) } };
}

const TEXT_LIMIT = 300;

/** A client's text, cut, and without what a terminal would obey. */
export function printable(text: string): string {
  const cut = text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)}…` : text;
  return cut.replaceAll(/[^\u0020-\u007e…]/g, '?');
}
