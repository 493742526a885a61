import { egressRules, proxyEnvironment, proxyProgram } from '../egress/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { INSIDE } from '../protocol/index.ts';
import type { ContainerWishes } from './wire-containers.ts';

/** The way out of a run's containers, and what those inside must know to find it. */
export interface Network extends Pick<ContainerSettings, 'network' | 'egress'> {
  readonly env: Environment;
  readonly warnings: readonly string[];
}

const MODEL_HOST = 'api.anthropic.com';

export async function networkFor(wishes: ContainerWishes): Promise<Network> {
  const { project, config, env } = wishes;
  const { network, allow } = config.workers.container;
  if (network === 'open') return { network: 'bridge', egress: null, env: {}, warnings: [] };
  if (network === 'none') return { network: 'none', egress: null, env: {}, warnings: withoutModel(wishes, []) };
  const { rules, warnings, env: told } = await egressRules({ allow, env, cwd: project.repository.root });
  const hosts = rules.map(({ host }) => host);
  return {
    network: 'none',
    egress: proxyProgram(rules, config.workers.lease),
    env: { ...told, ...proxyEnvironment(INSIDE.proxyPort) },
    warnings: [...warnings, ...withoutModel(wishes, hosts), ...behindProxy(env)],
  };
}

/** An agent that cannot reach its model fails every task, and says little of why. */
function withoutModel({ agent, graph, env }: ContainerWishes, hosts: readonly string[]): string[] {
  const asked = agent.kind === 'claude' && graph.tasks.some((task) => task.run === null);
  const cloud = Object.keys(env).some((name) => name.startsWith('CLAUDE_CODE_USE_'));
  const known = cloud || ((env['ANTHROPIC_BASE_URL'] ?? '') !== '' && hosts.length > 0);
  if (!asked || known || hosts.some((host) => MODEL_HOST.endsWith(host))) return [];
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
