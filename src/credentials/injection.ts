import type { Environment } from '../lib/index.ts';
import type { ModelAccess } from '../protocol/index.ts';
import { VARIABLES } from './agent-credentials.ts';
import { credentialErrors } from './errors.ts';
import type { AgentCredentials } from './login.ts';

/** Credentials that stay outside: the egress proxy adds them to the requests for the model. */
export interface Injection {
  readonly access: ModelAccess;
  /** What the agent gets in their place. */
  readonly env: Readonly<Record<string, string>>;
  /** For people: the host that gets them. */
  readonly host: string;
  /** Values that must not be shown. */
  readonly secrets: readonly string[];
}

/** Why the agent itself must have its credentials. */
export interface NoInjection {
  readonly because: string;
}

interface InjectionRequest {
  readonly credentials: AgentCredentials;
  readonly env: Environment;
  /** `workers.container.network` */
  readonly network: 'allowlist' | 'none' | 'open';
  /** `workers.container.env`: what all workers get. */
  readonly names: readonly string[];
}

const MODEL_URL = 'https://api.anthropic.com';
const CUSTOM_HEADERS = 'ANTHROPIC_CUSTOM_HEADERS';
/** Claude Code looks only whether there is something. */
const PLACEHOLDER = 'the-egress-proxy-adds-the-real-one';
/** As Claude Code names it for the token of a subscription; without it the API takes none. */
const OAUTH_BETA = 'oauth-2025-04-20';

export interface WayRequest extends InjectionRequest {
  /** `workers.container.credentials` */
  readonly wish: 'inject' | 'handover' | undefined;
}

/** An order to keep credentials outside is never answered by handing them over. */
export function chooseWay({ wish, ...request }: WayRequest): Injection | NoInjection {
  if (wish === 'handover') return { because: 'workers.container.credentials says so' };
  const found = injectionFor(request);
  if ('because' in found && wish === 'inject')
    throw credentialErrors.CREDENTIALS_NOT_INJECTABLE({ reason: found.because });
  return found;
}

/** Pure. How the credentials can stay outside, or why they cannot. */
function injectionFor(request: InjectionRequest): Injection | NoInjection {
  const { credentials, env } = request;
  const name = VARIABLES.find((variable) => variable === credentials.source);
  const value = name === undefined ? '' : (credentials.env[name] ?? '');
  const url = env['ANTHROPIC_BASE_URL']?.trim() || MODEL_URL;
  const custom = readHeaders(env[CUSTOM_HEADERS] ?? '');
  const because = hindrance(request, name, [value, ...custom.map(([, text]) => text)], url);
  if (because !== undefined || name === undefined) return { because: because ?? '' };
  const own = name === 'ANTHROPIC_API_KEY' ? ['x-api-key', value] : ['authorization', `Bearer ${value}`];
  return {
    access: {
      version: 1,
      url,
      // Claude Code lets the user's own headers replace its own ones, too.
      headers: Object.fromEntries([own, ...custom]) as Record<string, string>,
      betas: name === 'CLAUDE_CODE_OAUTH_TOKEN' ? [OAUTH_BETA] : [],
    },
    env: { [name]: PLACEHOLDER },
    host: new URL(url).host,
    secrets: [value, ...custom.flatMap(([, text]) => headerSecrets(text))],
  };
}

function hindrance(
  { credentials, network, names }: InjectionRequest,
  variable: string | undefined,
  values: readonly string[],
  url: string,
): string | undefined {
  const given = [...VARIABLES, CUSTOM_HEADERS].find((name) => names.includes(name));
  const cloud = names.find((name) => name.startsWith('CLAUDE_CODE_USE_'));
  if (network !== 'allowlist') return `with "network: ${network}" no request goes through the egress proxy`;
  if (variable === undefined) return `the login in ${credentials.source} is for Claude Code itself`;
  if (given !== undefined) return `workers.container.env gives ${given} to all workers`;
  if (cloud !== undefined) return behindAnother(cloud);
  // What a header cannot hold, a proxy cannot add.
  if (values.some((value) => !/^[\t\u0020-\u007e]*$/.test(value)))
    return `${variable} has characters that no header can have`;
  return unusable(url);
}

export const LOGIN_IN_ADDRESS = 'ANTHROPIC_BASE_URL has a user name, a password or a query in it';

function unusable(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'ANTHROPIC_BASE_URL is no http or https address';
  if (url.username !== '' || url.password !== '' || url.search !== '') return LOGIN_IN_ADDRESS;
  return undefined;
}

/** Pure. Why nothing can be added: `cloud` is the variable that says so. */
export const behindAnother = (cloud: string): string => `with ${cloud} the model is behind another login`;

/** Pure. The value of a header, and the token in it: an error of a server may have that alone. */
export function headerSecrets(value: string): readonly string[] {
  const [, token] = /^(?:Bearer|Basic|Token) +(\S+)$/i.exec(value) ?? [];
  return token === undefined ? [value] : [value, token];
}

/** As Claude Code reads them: one "Name: value" in each line. */
function readHeaders(text: string): [string, string][] {
  return text.split('\n').flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^\s*([A-Za-z0-9-]+)\s*:(.*)$/.exec(line.replace(/\r$/, '')) ?? [];
    return name === '' ? [] : [[name.toLowerCase(), value.trim()]];
  });
}
