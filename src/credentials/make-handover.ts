import { configErrors } from '../config/errors.ts';
import type { AgentAccess, Handover } from '../protocol/index.ts';
import { findAgentCredentials } from './agent-credentials.ts';
import type { Surroundings } from './agent-credentials.ts';
import { credentialErrors } from './errors.ts';
import { behindAnother, chooseWay } from './injection.ts';
import type { Injection, NoInjection, WayRequest } from './injection.ts';
import type { AgentCredentials } from './login.ts';
import { listedVariables, workerVariables } from './variables.ts';

interface HandoverRequest extends Surroundings, Pick<WayRequest, 'names' | 'network' | 'wish'> {
  /** For the text of an error. */
  readonly configFile: string;
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
  /** How they stay outside, or why the agent gets them; undefined where there are none. */
  readonly injection: Injection | NoInjection | undefined;
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
  const claude = agent.kind === 'claude' ? await claudeAccess(request) : NOTHING;
  if (agent.kind === 'command' && request.wish === 'inject')
    throw credentialErrors.CREDENTIALS_NOT_INJECTABLE({ reason: `"${agent.name}" is not Claude Code` });
  return {
    handover: { env: { ...variables.env }, secrets: unique(variables.secrets) },
    access: {
      agent: { env: { ...own.env, ...claude.env }, files: [...claude.files] },
      // Variables that are named for one agent only are all hidden.
      secrets: unique([...Object.values(own.env), ...claude.secrets]),
    },
    credentials: claude.credentials,
    injection: claude.injection,
    missing: [...new Set([...variables.missing, ...own.missing])],
  };
}

interface ClaudeAccess extends Pick<MadeHandover, 'credentials' | 'injection'> {
  readonly env: Readonly<Record<string, string>>;
  readonly files: AgentAccess['agent']['files'];
  readonly secrets: readonly string[];
}

/** Another agent gets nothing of this. */
const NOTHING: ClaudeAccess = { env: {}, files: [], secrets: [], credentials: undefined, injection: undefined };

async function claudeAccess(request: HandoverRequest): Promise<ClaudeAccess> {
  const credentials = await findAgentCredentials(request);
  const injection = credentials === undefined ? undefined : chooseWay({ ...request, credentials });
  if (injection !== undefined && 'access' in injection)
    return { env: injection.env, files: [SEED], secrets: [], credentials, injection };
  // Headers for a gateway may contain credentials.
  const headers = request.env['ANTHROPIC_CUSTOM_HEADERS'] ?? '';
  if (credentials === undefined) refuseOthers(request, headers);
  const values = headers.split('\n').map((line) => line.slice(line.indexOf(':') + 1).trim());
  return {
    env: { ...credentials?.env, ...(headers === '' ? {} : { ANTHROPIC_CUSTOM_HEADERS: headers }) },
    files: [SEED, ...(credentials?.files ?? [])],
    secrets: [...(credentials?.secrets ?? []), ...values],
    credentials,
    injection,
  };
}

/** Where credentials must stay outside, those of another kind are not handed over either. */
function refuseOthers({ wish, names }: HandoverRequest, headers: string): void {
  if (wish !== 'inject') return;
  const cloud = names.find((name) => name.startsWith('CLAUDE_CODE_USE_'));
  if (cloud === undefined && headers === '') return;
  const reason = cloud === undefined ? 'ANTHROPIC_CUSTOM_HEADERS come without a key or a token' : behindAnother(cloud);
  throw credentialErrors.CREDENTIALS_NOT_INJECTABLE({ reason });
}

function unique(secrets: readonly string[]): string[] {
  return [...new Set(secrets)].filter((secret) => secret !== '');
}
