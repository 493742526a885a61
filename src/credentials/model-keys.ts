import type { Environment } from '../lib/index.ts';
import type { AgentCredentials } from './login.ts';
import { keyIn, modelWays } from './providers.ts';
import type { AskedAgent } from './providers.ts';
import { addressSecrets } from './variables.ts';

interface SecretAddresses {
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

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

/** Pure. The addresses of an agent's models that have a secret in them: they are for this agent alone, like a key. */
export function findSecretAddresses(agent: AskedAgent, env: Environment): SecretAddresses {
  const found = modelWays(agent, env).flatMap(({ address }) => {
    const value = address === null ? undefined : env[address];
    const secrets = value === undefined ? [] : addressSecrets(value);
    return secrets.length === 0 ? [] : [{ address, value, secrets }];
  });
  return {
    env: Object.fromEntries(found.map(({ address, value }) => [address, value])) as Record<string, string>,
    secrets: found.flatMap(({ secrets }) => secrets),
  };
}
