import { configErrors } from '../config/errors.ts';
import type { Environment } from '../lib/index.ts';
import type { AgentAccess, Handover, KnownAgent } from '../protocol/index.ts';
import { findAgentCredentials } from './agent-credentials.ts';
import type { Surroundings } from './agent-credentials.ts';
import { credentialErrors } from './errors.ts';
import { behindAnother, chooseWay, headerSecrets, LOGIN_IN_ADDRESS } from './injection.ts';
import type { Injection, NoInjection, WayRequest } from './injection.ts';
import type { AgentCredentials } from './login.ts';
import { findKeys, findSecretAddresses } from './model-keys.ts';
import type { AskedAgent } from './providers.ts';
import { listedVariables, workerVariables } from './variables.ts';

/** An agent that tasks of a run ask. */
export type ServedAgent =
  | AskedAgent
  | {
      readonly kind: 'command';
      readonly name: string;
      /** Its `env` in the configuration. */ readonly names: readonly string[];
    };

interface HandoverRequest extends Surroundings, Pick<WayRequest, 'names' | 'network' | 'wish'> {
  /** For the text of an error. */
  readonly configFile: string;
  /** None when every task has a command of its own. */
  readonly agents: readonly ServedAgent[];
}

/** What one agent gets as well, in attempts that ask it. */
export interface AgentProof {
  /** Its name. */
  readonly agent: string;
  readonly access: AgentAccess;
  /** Undefined when there are none, or for a command of the user's own. */
  readonly credentials: AgentCredentials | undefined;
  /** How they stay outside, or why the agent gets them; undefined where there are none. */
  readonly injection: Injection | NoInjection | undefined;
}

interface MadeHandover {
  /** The parts that come from this machine; the launcher adds the rest. */
  readonly handover: Pick<Handover, 'env' | 'secrets'>;
  readonly proofs: readonly AgentProof[];
  /** Variables that the configuration names and that are not set. */
  readonly missing: readonly string[];
}

/** Without this the CLI would show its introduction for new users, or end without a message. */
const SEED = { path: '.claude.json', content: `${JSON.stringify({ hasCompletedOnboarding: true })}\n` };

/** A key in a variable is enough without a question, also with an address of the user's own; and nothing is reported to its maker. */
const GEMINI_SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
  privacy: { usageStatisticsEnabled: false },
};

const SEEDS: Readonly<Partial<Record<KnownAgent, typeof SEED>>> = {
  gemini: { path: '.gemini/settings.json', content: `${JSON.stringify(GEMINI_SETTINGS)}\n` },
};

/** What a worker in a container gets of this machine's environment, and separately the credentials of its agents. */
export async function makeHandover(request: HandoverRequest): Promise<MadeHandover> {
  const { agents, env, names, configFile } = request;
  const variables = workerVariables({ env, names });
  const own = agents.flatMap((agent) =>
    agent.kind === 'command' ? [{ ...agent, ...listedVariables({ env, ...agent }) }] : [],
  );
  const problems = [
    ...variables.problems.map((problem) => `workers.container.env: ${problem}`),
    ...own.flatMap(({ name, problems: of }) => of.map((problem) => `agents.${name}.env: ${problem}`)),
  ];
  if (problems.length > 0) throw configErrors.CONFIG_INVALID({ file: configFile, problems });
  return {
    handover: { env: { ...variables.env }, secrets: unique(variables.secrets) },
    proofs: await Promise.all(agents.map((agent) => proofOf(agent, request))),
    missing: [...new Set([...variables.missing, ...own.flatMap(({ missing }) => missing)])],
  };
}

async function proofOf(agent: ServedAgent, request: HandoverRequest): Promise<AgentProof> {
  if (agent.kind === 'claude') return claudeProof(agent, request);
  const name = agent.kind === 'command' ? agent.name : agent.kind;
  if (request.wish === 'inject')
    throw credentialErrors.CREDENTIALS_NOT_INJECTABLE({ reason: `"${name}" is not Claude Code` });
  if (agent.kind !== 'command') return keyProof(agent, request.env);
  const { env } = listedVariables({ env: request.env, names: agent.names });
  // Variables that are named for one agent only are all hidden.
  const access = { agent: { env: { ...env }, files: [] }, secrets: unique(Object.values(env)), injected: false };
  return { agent: name, access, credentials: undefined, injection: undefined };
}

/** An agent that is given the keys of the providers that it asks, and nothing else. */
function keyProof(agent: AskedAgent, env: Environment): AgentProof {
  const credentials = findKeys(agent, env);
  const addresses = findSecretAddresses(agent, env);
  const seed = SEEDS[agent.kind];
  return {
    agent: agent.kind,
    access: {
      agent: { env: { ...credentials?.env, ...addresses.env }, files: seed === undefined ? [] : [seed] },
      secrets: unique([...(credentials?.secrets ?? []), ...addresses.secrets]),
      injected: false,
    },
    credentials,
    injection: credentials === undefined ? undefined : { because: 'the egress proxy adds those of Claude Code alone' },
  };
}

async function claudeProof(claude: AskedAgent, request: HandoverRequest): Promise<AgentProof> {
  const agent = claude.kind;
  const credentials = await findAgentCredentials(request);
  const injection = credentials === undefined ? undefined : chooseWay({ ...request, credentials });
  if (injection !== undefined && 'access' in injection) {
    const access = { agent: { env: { ...injection.env }, files: [SEED] }, secrets: [], injected: true };
    return { agent, access, credentials, injection };
  }
  // Headers for a gateway may contain credentials.
  const headers = request.env['ANTHROPIC_CUSTOM_HEADERS'] ?? '';
  const addresses = findSecretAddresses(claude, request.env);
  if (credentials === undefined) refuseOthers(request, { headers, addresses: addresses.secrets });
  const values = headers.split('\n').flatMap((line) => headerSecrets(line.slice(line.indexOf(':') + 1).trim()));
  const access = {
    agent: {
      env: {
        ...credentials?.env,
        ...addresses.env,
        ...(headers === '' ? {} : { ANTHROPIC_CUSTOM_HEADERS: headers }),
      },
      files: [SEED, ...(credentials?.files ?? [])],
    },
    secrets: unique([...(credentials?.secrets ?? []), ...addresses.secrets, ...values]),
    injected: false,
  };
  return { agent, access, credentials, injection };
}

interface OtherCredentials {
  readonly headers: string;
  /** Secrets in the address of the model. */
  readonly addresses: readonly string[];
}

/** Where credentials must stay outside, those of another kind are not handed over either. */
function refuseOthers({ wish, names }: HandoverRequest, { headers, addresses }: OtherCredentials): void {
  if (wish !== 'inject') return;
  const cloud = names.find((name) => name.startsWith('CLAUDE_CODE_USE_'));
  const reasons = [
    ...(cloud === undefined ? [] : [behindAnother(cloud)]),
    ...(headers === '' ? [] : ['ANTHROPIC_CUSTOM_HEADERS come without a key or a token']),
    ...(addresses.length === 0 ? [] : [LOGIN_IN_ADDRESS]),
  ];
  const [reason] = reasons;
  if (reason !== undefined) throw credentialErrors.CREDENTIALS_NOT_INJECTABLE({ reason });
}

function unique(secrets: readonly string[]): string[] {
  return [...new Set(secrets)].filter((secret) => secret !== '');
}
