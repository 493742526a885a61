import type { Config } from '../config/index.ts';
import { egressRules, isAllowed, proxyEnvironment, proxyProgram } from '../egress/rules/index.ts';
import type { EgressRules } from '../egress/rules/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { INSIDE } from '../protocol/index.ts';
import type { EgressRule } from '../protocol/index.ts';
import type { ContainerWishes } from './run-workers.ts';

/** The way out of a run's containers, and what there is to say of it: the user's npm is asked meanwhile. */
export interface Network extends Pick<ContainerSettings, 'network'> {
  readonly egress: Pick<NonNullable<ContainerSettings['egress']>, 'program' | 'env'> | null;
  readonly warnings: Promise<readonly string[]>;
}

const MODEL_HOST = 'api.anthropic.com';

/** Null when there is nothing to find out: no network, or all of it. */
export function askRules(
  { container }: Config['workers'],
  env: Environment,
  repository: string,
): Promise<EgressRules> | null {
  return container.network === 'allowlist' ? egressRules({ allow: container.allow, env, repository }) : null;
}

/** What is malformed has been refused before; what npm says is not waited for. */
export function networkFor(wishes: ContainerWishes): Network {
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
      program: asked.then(({ rules }) => proxyProgram(rules, config.workers.lease)),
      env: asked.then(({ env: told }) => ({ ...told, ...proxyEnvironment(INSIDE.proxyPort) })),
    },
    warnings: asked.then(({ rules, warnings }) => {
      return [...warnings, ...withoutModel(wishes, rules), ...behindProxy(env)];
    }),
  };
}

/** An agent that cannot reach its model fails every task, and says little of why. */
function withoutModel({ agent, config, graph, env }: ContainerWishes, rules: readonly EgressRule[]): string[] {
  const asked = agent.kind === 'claude' && graph.tasks.some((task) => task.run === null);
  // Of the user's variables workers have only those that he names.
  const given = config.workers.container.env.filter((name) => (env[name] ?? '') !== '');
  const cloud = given.some((name) => name.startsWith('CLAUDE_CODE_USE_'));
  const known = cloud || ((env['ANTHROPIC_BASE_URL'] ?? '') !== '' && rules.length > 0);
  if (!asked || known || isAllowed(rules, MODEL_HOST, 443)) return [];
  return [
    `workers cannot reach ${MODEL_HOST}, and so Claude Code cannot work: add "anthropic" to workers.container.allow`,
  ];
}

/** The egress proxy asks nobody on its way out. */
function behindProxy(env: Environment): string[] {
  const names = ['HTTPS_PROXY', 'https_proxy'].filter((name) => (env[name] ?? '') !== '');
  if (names.length === 0) return [];
  return [
    `${names.join(' and ')} is set here, but workers' requests go out without it; they fail where there is no other way`,
  ];
}
