import { configErrors } from '../config/errors.ts';
import type { AgentAccess, Handover } from '../protocol/index.ts';
import { findAgentCredentials } from './agent-credentials.ts';
import type { Surroundings } from './agent-credentials.ts';
import type { AgentCredentials } from './login.ts';
import { listedVariables, workerVariables } from './variables.ts';

interface HandoverRequest extends Surroundings {
  /** For the words of an error. */
  readonly configFile: string;
  /** `workers.container.env`. */
  readonly names: readonly string[];
  /** `names`: its `env` in the configuration. */
  readonly agent:
    | { readonly kind: 'claude' | 'shell' }
    | { readonly kind: 'command'; readonly name: string; readonly names: readonly string[] };
}

interface MadeHandover {
  /** The parts of it that come from this machine; how the container is reached adds the rest. */
  readonly handover: Pick<Handover, 'env' | 'secrets'>;
  /** What an agent has besides, in attempts that ask it. */
  readonly access: AgentAccess;
  /** What Claude Code was given; undefined when there is nothing, or the agent is another one. */
  readonly credentials: AgentCredentials | undefined;
  /** Variables that the configuration names and that are not set. */
  readonly missing: readonly string[];
}

/** Without it, the CLI would introduce itself to whom it takes for a new user, or end without a word. */
const SEED = { path: '.claude.json', content: `${JSON.stringify({ hasCompletedOnboarding: true })}\n` };

/** All that a worker in a container gets of this machine's environment, apart from it what its agent proves itself with. */
export async function makeHandover(request: HandoverRequest): Promise<MadeHandover> {
  const { agent, env, names, configFile } = request;
  const variables = workerVariables({ env, names });
  const own = listedVariables({ env, names: agent.kind === 'command' ? agent.names : [] });
  const problems = [
    ...variables.problems.map((problem) => `workers.container.env: ${problem}`),
    ...own.problems.map((problem) => `agents.${agent.kind === 'command' ? agent.name : ''}.env: ${problem}`),
  ];
  if (problems.length > 0) throw configErrors.CONFIG_INVALID({ file: configFile, problems });
  const credentials = agent.kind === 'claude' ? await findAgentCredentials(request) : undefined;
  // Headers for a gateway may be what it lets us in by.
  const headers = agent.kind === 'claude' ? (env['ANTHROPIC_CUSTOM_HEADERS'] ?? '') : '';
  const secrets = [
    // Named for one agent alone: whatever it is, nothing else may show it.
    ...Object.values(own.env),
    ...(credentials?.secrets ?? []),
    ...headers.split('\n').map((line) => line.slice(line.indexOf(':') + 1).trim()),
  ];
  return {
    handover: { env: { ...variables.env }, secrets: unique(variables.secrets) },
    access: {
      agent: {
        env: { ...own.env, ...credentials?.env, ...(headers === '' ? {} : { ANTHROPIC_CUSTOM_HEADERS: headers }) },
        files: agent.kind === 'claude' ? [SEED, ...(credentials?.files ?? [])] : [],
      },
      secrets: unique(secrets),
    },
    credentials,
    missing: [...new Set([...variables.missing, ...own.missing])],
  };
}

function unique(secrets: readonly string[]): string[] {
  return [...new Set(secrets)].filter((secret) => secret !== '');
}
