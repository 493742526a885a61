import type { Config } from '../../config/index.ts';
import { chooseWay, findAgentCredentials, findKeys, storedLogin } from '../../credentials/index.ts';
import type { AgentCredentials } from '../../credentials/index.ts';
import { run } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import { credentialsInWords, credentialsLine, loginOf } from '../../project/index.ts';
import type { UsedAgent } from '../../project/index.ts';
import { isKnownAgent } from '../../protocol/index.ts';
import type { KnownAgent } from '../../protocol/index.ts';
import type { CliContext } from '../command.ts';
import { checked, fine } from './finding.ts';
import type { Finding } from './finding.ts';

interface Need {
  readonly inside: boolean;
  readonly config: Config | undefined;
  readonly agents: readonly UsedAgent[];
}

/** Of each agent that is asked; of Claude Code where none of them is known here. Says whether there are any, never what they are. */
export function checkCredentials({ env }: CliContext, { inside, config, agents }: Need): Promise<Finding[]> {
  const known = agents.flatMap(({ spec, tasks, models }) =>
    isKnownAgent(spec) ? [{ kind: spec.kind, tasks, models }] : [],
  );
  const asked = known.length > 0 ? known : [{ kind: 'claude' as const, tasks: [], models: [] }];
  return Promise.all(
    asked.map(({ kind, tasks, models }, index) => {
      const what = index === 0 ? 'credentials' : `credentials of ${kind}`;
      // OpenCode may ask a provider that is not known here.
      const missing = inside && tasks.length > 0 && kind !== 'opencode' ? 'bad' : 'note';
      const check = async (): Promise<Finding> => {
        if (kind === 'claude') return ofClaude(what, env, { inside, missing, config });
        const [credentials, stored] = [findKeys({ kind, models }, env), await storedLogin(kind, env)];
        return ofKeys(what, kind, { credentials, stored, missing, inside });
      };
      return checked(what, check, missing);
    }),
  );
}

type Missing = 'bad' | 'note';

interface Keys {
  readonly credentials: AgentCredentials | undefined;
  /** The file of a login that containers do not get. */
  readonly stored: string | undefined;
  readonly missing: Missing;
  readonly inside: boolean;
}

function ofKeys(what: string, kind: KnownAgent, { credentials, stored, missing, inside }: Keys): Finding {
  if (credentials === undefined && stored !== undefined && !inside) return fine(what, `the login in ${stored}`);
  if (credentials === undefined) {
    const found = stored === undefined ? 'none found' : `no key, and the login in ${stored} is not for containers`;
    return { what, state: missing, found, remedy: `For ${loginOf(kind)}.` };
  }
  const way = inside ? `; handover: ${kind} in the container gets it` : '';
  return fine(what, `${credentials.source} is set${way}`);
}

interface ClaudeNeed extends Pick<Need, 'inside' | 'config'> {
  readonly missing: Missing;
}

async function ofClaude(what: string, env: Environment, { inside, missing, config }: ClaudeNeed): Promise<Finding> {
  const credentials = await findAgentCredentials({ env, platform: process.platform, run });
  if (credentials === undefined)
    return { what, state: missing, found: 'none found', remedy: `For ${loginOf('claude')}.` };
  const { source, expired, expiresAt } = credentials;
  const way = inside && config !== undefined ? [wayInWords(credentials, config, env)] : [];
  const found = source in env ? `${source} is set` : source;
  const until = expiresAt === null ? '' : `, valid until ${expiresAt}`;
  if (!expired) return fine(what, [`${found}${until}`, ...way].join('; '));
  const remedy = 'Run "claude" once: it renews the login, which workers in containers cannot.';
  const state = inside ? missing : 'note';
  return { what, state, found: `${found}: the login has expired (${expiresAt})`, remedy };
}

/** Throws when the configuration wants a way that these credentials cannot go. */
function wayInWords(credentials: AgentCredentials, { workers: { container } }: Config, env: Environment): string {
  const { credentials: wish, env: names, network } = container;
  const way = credentialsLine('claude', credentials.source, chooseWay({ credentials, env, network, names, wish }));
  return credentialsInWords(way, 'it');
}
