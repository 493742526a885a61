import { AGENT_FACTS } from '../agents/index.ts';
import { modelWays } from '../credentials/index.ts';
import type { ModelWay } from '../credentials/index.ts';
import { egressRules, isAllowed, proxyEnvironment, proxyProgram } from '../egress/rules/index.ts';
import type { EgressRules } from '../egress/rules/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { INSIDE, isKnownAgent } from '../protocol/index.ts';
import type { EgressRule } from '../protocol/index.ts';
import { servedAgents } from './run-agents.ts';
import type { ContainerWishes } from './run-workers.ts';

/** The network of a run's containers. Rules and warnings come later, because npm is asked for its registries. */
export interface Network extends Pick<ContainerSettings, 'network'> {
  readonly egress: Pick<NonNullable<ContainerSettings['egress']>, 'program' | 'env'> | null;
  readonly warnings: Promise<readonly string[]>;
}

/** Null for a network without an allowlist. */
export function askRules({ config, used, env, repository }: RulesWish): Promise<EgressRules> | null {
  const { network, allow } = config.workers.container;
  if (network !== 'allowlist') return null;
  const ways = waysOf({ config, used, env });
  const addresses = ways.flatMap(({ address }) => (address === null ? [] : [address]));
  return egressRules({ allow, env, repository, agentHosts: ways.map(({ host }) => host), addresses });
}

interface RulesWish extends Pick<ContainerWishes, 'config' | 'used' | 'env'> {
  readonly repository: string;
}

/** On which ways the agents of a run reach their models. */
function waysOf({ config, used, env }: Pick<ContainerWishes, 'config' | 'used' | 'env'>): readonly ModelWay[] {
  return servedAgents(used, config).flatMap((agent) => (agent.kind === 'command' ? [] : modelWays(agent, env)));
}

/** The allowlist was checked before; the answer of npm is not waited for. */
export function networkFor(wishes: ContainerWishes, injects: boolean): Network {
  const { config, env } = wishes;
  const { rules: asked } = wishes.mode;
  if (asked === null) {
    const open = config.workers.container.network === 'open';
    const warnings = Promise.resolve(open ? [] : withoutModel(wishes, [], false));
    return { network: open ? 'bridge' : 'none', egress: null, warnings };
  }
  return {
    network: 'none',
    egress: {
      program: asked.then(({ rules }) => proxyProgram(rules, config.workers.lease, { access: injects })),
      env: asked.then(({ env: told }) => ({ ...told, ...proxyEnvironment(INSIDE.proxyPort) })),
    },
    warnings: asked.then(({ rules, warnings }) => {
      return [...warnings, ...withoutModel(wishes, rules, injects), ...behindProxy(env)];
    }),
  };
}

/** An agent that cannot reach its model fails every task without a clear reason. */
function withoutModel(wishes: ContainerWishes, rules: readonly EgressRule[], injects: boolean): string[] {
  const { used, config, env } = wishes;
  const needed = used.flatMap(({ spec, models }) => {
    if (!isKnownAgent(spec) || (spec.kind === 'claude' && (injects || hasOwnLogin(wishes)))) return [];
    const away = modelWays({ kind: spec.kind, models }, env).filter(
      ({ host, address }) => !(isSet(address, env) && rules.length > 0) && !isAllowed(rules, host, 443),
    );
    return away.map(({ host }) => ({ host, title: AGENT_FACTS[spec.kind].title }));
  });
  const remedy =
    config.workers.container.network === 'none'
      ? 'set workers.container.network: allowlist'
      : 'add "agent" to workers.container.allow';
  return needed.map(({ host, title }) => `workers cannot reach ${host}, and so ${title} cannot work: ${remedy}`);
}

const isSet = (name: string | null, env: Environment): boolean => name !== null && (env[name] ?? '') !== '';

/** Claude Code may ask a cloud instead. Workers get only the variables that the configuration names. */
function hasOwnLogin({ config, env }: ContainerWishes): boolean {
  const given = config.workers.container.env.filter((name) => isSet(name, env));
  return given.some((name) => name.startsWith('CLAUDE_CODE_USE_'));
}

/** The egress proxy does not use another proxy. */
function behindProxy(env: Environment): string[] {
  const names = ['HTTPS_PROXY', 'https_proxy'].filter((name) => (env[name] ?? '') !== '');
  if (names.length === 0) return [];
  return [
    `${names.join(' and ')} is set here, but workers' requests go out without it; they fail where there is no other way`,
  ];
}
