import { egressRules, proxyEnvironment, proxyProgram } from '../egress/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { INSIDE } from '../protocol/index.ts';
import type { ContainerWishes } from './container-wishes.ts';

/** The way out of a run's containers, and what there is to say of it: the user's npm is asked meanwhile. */
export interface Network extends Pick<ContainerSettings, 'network' | 'egress'> {
  readonly warnings: Promise<readonly string[]>;
}

const MODEL_HOST = 'api.anthropic.com';

export async function networkFor(wishes: ContainerWishes): Promise<Network> {
  const { project, config, env } = wishes;
  const { network, allow } = config.workers.container;
  if (network === 'open') return { network: 'bridge', egress: null, warnings: Promise.resolve([]) };
  if (network === 'none') return { network: 'none', egress: null, warnings: Promise.resolve(withoutModel(wishes, [])) };
  const asked = egressRules({ allow, env, cwd: project.repository.root });
  // What is malformed is known by now, and told before anything starts; what npm says is not waited for.
  await Promise.race([asked, undefined]);
  return {
    network: 'none',
    egress: {
      program: asked.then(({ rules }) => proxyProgram(rules, config.workers.lease)),
      env: asked.then(({ env: told }) => ({ ...told, ...proxyEnvironment(INSIDE.proxyPort) })),
    },
    warnings: asked.then(({ rules, warnings }) => {
      const hosts = rules.map(({ host }) => host);
      return [...warnings, ...withoutModel(wishes, hosts), ...behindProxy(env)];
    }),
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
