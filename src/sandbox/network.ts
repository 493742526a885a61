import type { Egress } from '../containers/index.ts';
import {
  allowlistProblems,
  egressRules,
  parseAllowlist,
  proxyEnvironment,
  proxyProgram,
} from '../egress/rules/index.ts';
import type { Audience } from '../egress/rules/index.ts';
import type { Environment } from '../lib/index.ts';
import { INSIDE, LONGEST_REACH, reachPlace, reachText } from '../protocol/index.ts';
import type { EgressRule } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';

/** As the proxy's first line takes it. */
const CLIENTS = 1000;

export interface NetworkWishes {
  readonly allow: readonly string[];
  /** Default: sessions of `serve`. */
  readonly audience?: Audience | undefined;
  /** The user's own environment: it names the registry of npm. */
  readonly env: Environment;
  /** Has no settings of npm. */
  readonly folder: string;
  /** How long the proxy goes on without a sign of life. */
  readonly leaseMs: number;
  readonly proxy: Pick<Egress, 'image' | 'uid' | 'gid'>;
  /** Before the first session has it. */
  readonly begin: () => Promise<void>;
  readonly onWarning: (warning: string) => void;
}

/** True: all that the server allows; otherwise hosts, names and presets of that list. */
export type NetworkWish = true | readonly string[];

export interface SessionNetwork {
  readonly egress: Egress;
  /** Which hosts that means. Throws NETWORK_REFUSED. */
  reach(wish: NetworkWish): Promise<string | undefined>;
  /** Variables for programs that are to find it. */
  env(): Promise<Readonly<Record<string, string>>>;
  /** The number of a client that no other one has; undefined when all are in use. */
  enter(): number | undefined;
  leave(client: number): void;
}

/** The way out of sessions that ask for one. The list is read when the first one does. */
export function sessionNetwork({
  allow,
  audience = SESSIONS,
  env,
  folder,
  leaseMs,
  proxy,
  begin,
  onWarning,
}: NetworkWishes): SessionNetwork {
  const rules = once(async () => {
    await begin();
    const known = await egressRules({ allow, env: withoutModel(env), repository: folder, audience });
    known.warnings.forEach(onWarning);
    return known;
  });
  const taken = new Set<number>();
  return {
    egress: {
      ...proxy,
      get program() {
        return rules().then((known) => proxyProgram(known.rules, leaseMs, { access: false }));
      },
      access: null,
      runtime: null,
    },
    reach: async (wish) => reachOf(wish, allow, (await rules()).rules),
    env: async () => ({ ...(await rules()).env, ...proxyEnvironment(INSIDE.proxyPort) }),
    enter: () => {
      const client = Array.from({ length: CLIENTS }, (_, index) => index).find((index) => !taken.has(index));
      if (client !== undefined) taken.add(client);
      return client;
    },
    leave: (client) => void taken.delete(client),
  };
}

/** No session asks a model. */
const withoutModel = (env: Environment): Environment => ({ ...env, ANTHROPIC_BASE_URL: '' });

/** Does the work when it is first asked for, and again after a failure. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | undefined;
  return async () => {
    const doing = (done ??= work());
    try {
      return await doing;
    } catch (error) {
      if (done === doing) done = undefined;
      throw error;
    }
  };
}

const SESSIONS: Audience = { setting: 'serve.network.allow', who: 'sessions' };

/** Pure. What of the list cannot be read. */
export const networkProblems = (allow: readonly string[]): string[] => allowlistProblems(allow, SESSIONS);

function reachOf(wish: NetworkWish, allow: readonly string[], rules: readonly EgressRule[]): string | undefined {
  if (allow.length === 0) throw sandboxErrors.NETWORK_REFUSED({ hosts: ['any host'], allowed: allow });
  if (wish === true) return undefined;
  const asked = wish.map((entry) => ({ entry, places: placesOf(entry, allow, rules) }));
  const refused = asked.filter(({ places }) => places.length === 0).map(({ entry }) => entry);
  const reach = reachText([...new Set(asked.flatMap(({ places }) => places))]);
  if (refused.length > 0 || reach.length > LONGEST_REACH)
    throw sandboxErrors.NETWORK_REFUSED({ hosts: refused.length > 0 ? refused : ['so many hosts'], allowed: allow });
  return reach;
}

/** The places that an entry of a request means, of those that are allowed; none when it is not allowed. */
function placesOf(entry: string, allow: readonly string[], rules: readonly EgressRule[]): string[] {
  const { rules: wanted, npm } = parseAllowlist([entry]);
  // The hosts of npm are those that the list had more than its other entries say.
  if (npm) return allow.includes(entry) ? npmRules(allow, rules).flatMap((rule) => allowedPlaces(rule, rules)) : [];
  const places = wanted.map((want) => allowedPlaces(want, rules));
  return places.every((each) => each.length > 0) ? places.flat() : [];
}

function allowedPlaces(want: EgressRule, rules: readonly EgressRule[]): string[] {
  const ports = want.ports.filter((port) => rules.some((rule) => covers(rule, want) && rule.ports.includes(port)));
  return ports.map((port) => reachPlace(hostText(want), port));
}

function npmRules(allow: readonly string[], rules: readonly EgressRule[]): readonly EgressRule[] {
  return rules.slice(parseAllowlist(allow).rules.length);
}

function covers(rule: EgressRule, want: EgressRule): boolean {
  if (rule.covers === 'subdomains')
    return want.host.endsWith(`.${rule.host}`) || (want.covers === 'subdomains' && want.host === rule.host);
  return want.covers === 'host' && want.host === rule.host;
}

const hostText = ({ host, covers: how }: EgressRule): string => (how === 'subdomains' ? `*.${host}` : host);
