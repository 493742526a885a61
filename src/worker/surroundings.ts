import type { Environment } from '../lib/index.ts';
import { createRedactor } from '../logs/index.ts';
import type { Redactor } from '../logs/index.ts';
import { EGRESS_SOCKET, HANDOVER_MARK, INSIDE } from '../protocol/index.ts';
import type { Boot } from '../protocol/index.ts';
import { createAgentHome } from './agent-home.ts';
import type { AgentHome } from './agent-home.ts';
import { openCredentialsInbox } from './credentials-inbox.ts';
import type { CredentialsInbox } from './credentials-inbox.ts';
import { openEgressDoor } from '../egress/door/index.ts';
import { readHandover } from './handover.ts';

const HANDOVER_LIMIT = 4 * 1024 * 1024;
const HANDOVER_TIMEOUT_MS = 60_000;
/** Variables that give an agent in its user's environment an account: each provider of models has its own. */
const SECRET = /(^|_)(API_KEY|AUTH_TOKEN|OAUTH_TOKEN)$/;

/** What a worker and its jobs are given from outside. */
export interface Surroundings {
  /** For everything that is run for a task. */
  readonly env: Environment;
  /** For the agent alone; undefined where the worker has the rights and the logins of its user. */
  readonly agentHome: AgentHome | undefined;
  /** The agent's credentials, for one attempt at a time; undefined when `agentHome` is. */
  readonly credentials: CredentialsInbox | undefined;
  /** Folders of a container that tasks may write; emptied when an attempt begins afresh. */
  readonly scratch: readonly string[];
  readonly redact: Redactor;
}

/** A subprocess has its user's environment; in a container everything comes by stdin. */
export async function findSurroundings({ worker, likelyBase }: Boot, own: Environment): Promise<Surroundings> {
  const { [HANDOVER_MARK]: mark, ...env } = own;
  if (mark === undefined) {
    const secrets = Object.entries(env).flatMap(([name, value]) => (SECRET.test(name) ? (value ?? []) : []));
    return { env, agentHome: undefined, credentials: undefined, scratch: [], redact: createRedactor(secrets) };
  }
  // A spare waits as long as its orchestrator lives.
  const timeoutMs = likelyBase === null ? HANDOVER_TIMEOUT_MS : Number.POSITIVE_INFINITY;
  const handover = await readHandover(process.stdin, HANDOVER_LIMIT, timeoutMs);
  if (handover.egress !== null) {
    await openEgressDoor({ port: INSIDE.proxyPort, socket: EGRESS_SOCKET, worker, token: handover.egress });
  }
  const credentials = openCredentialsInbox(process.stdin, handover.secrets, { limitBytes: HANDOVER_LIMIT });
  const home = env['HOME'] ?? INSIDE.home;
  return {
    env: { ...env, ...handover.env },
    agentHome: createAgentHome(home),
    credentials,
    scratch: [home, '/tmp'],
    redact: credentials.redact,
  };
}
