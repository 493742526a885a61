import { configErrors } from '../config/errors.ts';
import type { AgentAccess, Handover } from '../protocol/index.ts';
import { findAgentCredentials } from './agent-credentials.ts';
import type { Surroundings } from './agent-credentials.ts';
import type { AgentCredentials } from './login.ts';
import { listedVariables, workerVariables } from './variables.ts';

interface HandoverRequest extends Surroundings {
  /** For the text of an error. */
  readonly configFile: string;
  /** `workers.container.env`. */
  readonly names: readonly string[];
  /** `names` is its `env` in the configuration. */
  readonly agent:
    | { readonly kind: 'claude' | 'shell' }
    | { readonly kind: 'command'; readonly name: string; readonly names: readonly string[] };
}

interface MadeHandover {
  /** The parts that come from this machine; the launcher adds the rest. */
  readonly handover: Pick<Handover, 'env' | 'secrets'>;
  /** What the agent gets as well, in attempts that ask an agent. */
  readonly access: AgentAccess;
  /** The credentials for Claude Code; undefined when there are none, or for another agent. */
  readonly credentials: AgentCredentials | undefined;
  /** Variables that the configuration names and that are not set. */
  readonly missing: readonly string[];
}

/** Without this the CLI would show its introduction for new users, or end without a message. */
const SEED = { path: '.claude.json', content: `${JSON.stringify({ hasCompletedOnboarding: true })}\n` };

/** What a worker in a container gets of this machine's environment, and separately its agent's credentials. */
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
  // Headers for a gateway may contain credentials.
  const headers = agent.kind === 'claude' ? (env['ANTHROPIC_CUSTOM_HEADERS'] ?? '') : '';
  const secrets = [
    // Variables that are named for one agent only are all hidden.
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
