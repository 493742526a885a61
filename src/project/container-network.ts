import type { Config } from '../config/index.ts';
import { egressRules, isAllowed, proxyEnvironment, proxyProgram } from '../egress/rules/index.ts';
import type { EgressRules } from '../egress/rules/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { INSIDE } from '../protocol/index.ts';
import type { EgressRule } from '../protocol/index.ts';
import { agentTasks } from '../tasks/index.ts';
import type { ContainerWishes } from './run-workers.ts';

/** The network of a run's containers. Rules and warnings come later, because npm is asked for its registries. */
export interface Network extends Pick<ContainerSettings, 'network'> {
  readonly egress: Pick<NonNullable<ContainerSettings['egress']>, 'program' | 'env'> | null;
  readonly warnings: Promise<readonly string[]>;
}

const MODEL_HOST = 'api.anthropic.com';

/** Null for a network without an allowlist. */
export function askRules(
  { container }: Config['workers'],
  env: Environment,
  repository: string,
): Promise<EgressRules> | null {
  return container.network === 'allowlist' ? egressRules({ allow: container.allow, env, repository }) : null;
}

/** The allowlist was checked before; the answer of npm is not waited for. */
export function networkFor(wishes: ContainerWishes, injects: boolean): Network {
  const { config, env } = wishes;
  const { rules: asked } = wishes.mode;
  if (asked === null) {
    const open = config.workers.container.network === 'open';
    const warnings = Promise.resolve(open ? [] : withoutModel(wishes, []));
    return { network: open ? 'bridge' : 'none', egress: null, warnings };
  }
  return {
    network: 'none',
    egress: {
      program: asked.then(({ rules }) => proxyProgram(rules, config.workers.lease, { access: injects })),
      env: asked.then(({ env: told }) => ({ ...told, ...proxyEnvironment(INSIDE.proxyPort) })),
    },
    warnings: asked.then(({ rules, warnings }) => {
      return [...warnings, ...(injects ? [] : withoutModel(wishes, rules)), ...behindProxy(env)];
    }),
  };
}

/** An agent that cannot reach its model fails every task without a clear reason. */
function withoutModel({ agent, config, graph, env }: ContainerWishes, rules: readonly EgressRule[]): string[] {
  const asked = agent.kind === 'claude' && agentTasks(graph).length > 0;
  // Workers get only the variables that the configuration names.
  const given = config.workers.container.env.filter((name) => (env[name] ?? '') !== '');
  const cloud = given.some((name) => name.startsWith('CLAUDE_CODE_USE_'));
  const known = cloud || ((env['ANTHROPIC_BASE_URL'] ?? '') !== '' && rules.length > 0);
  if (!asked || known || isAllowed(rules, MODEL_HOST, 443)) return [];
  return [
    `workers cannot reach ${MODEL_HOST}, and so Claude Code cannot work: add "anthropic" to workers.container.allow`,
  ];
}

/** The egress proxy does not use another proxy. */
function behindProxy(env: Environment): string[] {
  const names = ['HTTPS_PROXY', 'https_proxy'].filter((name) => (env[name] ?? '') !== '');
  if (names.length === 0) return [];
  return [
    `${names.join(' and ')} is set here, but workers' requests go out without it; they fail where there is no other way`,
  ];
}
