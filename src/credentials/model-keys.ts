import type { Environment } from '../lib/index.ts';
import type { AgentCredentials } from './login.ts';
import { keyIn, modelWays } from './providers.ts';
import type { AskedAgent } from './providers.ts';

/** Pure. The keys of the providers that an agent asks, in variables; undefined when none of them is set. */
export function findKeys(agent: AskedAgent, env: Environment): AgentCredentials | undefined {
  const found = modelWays(agent, env).flatMap(({ keys, as }) => {
    const source = keyIn(keys, env);
    return source === undefined ? [] : [{ source, as, value: env[source]?.trim() ?? '' }];
  });
  if (found.length === 0) return undefined;
  return {
    source: found.map(({ source }) => source).join(', '),
    env: Object.fromEntries(found.map(({ as, value }) => [as, value])),
    files: [],
    secrets: found.map(({ value }) => value),
    expiresAt: null,
    expired: false,
  };
}
