import { configErrors } from '../../config/errors.ts';
import type { Environment } from '../../lib/index.ts';
import type { EgressRule } from '../../protocol/index.ts';
import { kindOf, readAddress, readHost } from '../target/index.ts';
import { WORKERS } from './audience.ts';
import type { Audience } from './audience.ts';
import { isOwnLoopback, loopbackWarning, parseAllowlist } from './allowlist.ts';
import { readNpmHosts } from './npm-hosts.ts';
import type { NpmHosts } from './npm-hosts.ts';
import { AGENT_PRESET } from './presets.ts';

export interface EgressRules {
  readonly rules: readonly EgressRule[];
  /** What will not work as it is written, each with what to do. */
  readonly warnings: readonly string[];
  /** Variables for tools inside, so that they ask the registries of this machine's settings, which are allowed. */
  readonly env: Readonly<Record<string, string>>;
}

export interface EgressWishes {
  /** `workers.container.allow` */
  readonly allow: readonly string[];
  /** The user's own environment. */
  readonly env: Environment;
  /** Its .npmrc may name registries. */
  readonly repository: string;
  /** What "agent" in the list stands for; without them there is no such entry. */
  readonly agentHosts?: readonly string[];
  /** Variables with the address of a model's server, beside ANTHROPIC_BASE_URL. */
  readonly addresses?: readonly string[];
  readonly audience?: Audience;
}

/** Pure. One text for each entry that cannot be read. */
export function allowlistProblems(allow: readonly string[], { setting } = WORKERS): string[] {
  const { problems, agent } = parseAllowlist(allow);
  const all = agent && setting !== WORKERS.setting ? [...problems, '"agent": no agent works here'] : problems;
  return all.map((problem) => (setting === null ? problem : `${setting}: ${problem}`));
}

/** What workers may reach: the user's list, the registries of the user's npm when npm is listed, and the model server that is set. */
export async function egressRules(wishes: EgressWishes): Promise<EgressRules> {
  const { allow: wanted, env, repository, audience = WORKERS } = wishes;
  const allow = withAgentHosts(wanted, wishes.agentHosts);
  const problems = allowlistProblems(allow, audience);
  if (problems.length > 0) throw configErrors.CONFIG_INVALID({ file: '.mahabharatha/config.yaml', problems });
  const list = parseAllowlist(allow, audience);
  const npm: NpmHosts = list.npm
    ? await readNpmHosts(env, repository, audience)
    : { registries: [], project: [], warnings: [] };
  const own = [
    ...npm.registries.map((url) => ({ url, from: 'The registry in your npm configuration' })),
    ...modelServers(env, wishes.addresses ?? []),
  ].flatMap(({ url, from }) => ruleOf(url, from));
  const foreign = npm.project.flatMap((url) => ruleOf(url, '').map(({ rule }) => ({ ...rule, trustedPrivate: false })));
  const warnings = own.filter(({ rule }) => isOwnLoopback(rule));
  return {
    env: npm.registry === undefined ? {} : { npm_config_registry: npm.registry },
    rules: [...list.rules, ...own.map(({ rule }) => rule), ...foreign.filter(({ host }) => mayBeForeign(host))],
    warnings: [
      ...list.warnings,
      ...npm.warnings,
      ...projectWarning(npm.project, audience),
      ...warnings.map(({ rule, from }) => loopbackWarning(`${from} (${rule.host}:${rule.ports.join()})`)),
    ],
  };
}

const withAgentHosts = (allow: readonly string[], hosts?: readonly string[]): readonly string[] =>
  hosts === undefined ? allow : allow.flatMap((entry) => (entry.trim() === AGENT_PRESET ? hosts : [entry]));

function modelServers(env: Environment, names: readonly string[]): { url: URL; from: string }[] {
  return [...new Set(['ANTHROPIC_BASE_URL', ...names])].flatMap((from) => {
    const address = env[from] ?? '';
    return URL.canParse(address) ? [{ url: new URL(address), from }] : [];
  });
}

/** An address that the user has set for another tool counts as listed, wherever in the user's network it leads. */
function ruleOf(url: URL, from: string): { rule: EgressRule; from: string }[] {
  const host = readHost(url.hostname)?.host;
  if (host === undefined) return [];
  const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
  return [{ rule: { host, covers: 'host', ports: [port], trustedPrivate: true }, from }];
}

/** The user has not written what stands in the repository: an address there must be a public one. */
function mayBeForeign(host: string): boolean {
  const address = readAddress(host);
  return address === undefined || kindOf(address) === 'public';
}

function projectWarning(registries: readonly URL[], { who }: Audience): string[] {
  if (registries.length === 0) return [];
  const named = registries.map(({ host }) => host).join(', ');
  return [
    `The .npmrc of the repository names registries that your own npm configuration does not have (${named}): ${who} reach them at public addresses only. If one is in your private network, name it in your own npm configuration.`,
  ];
}
