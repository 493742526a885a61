import { egressKey, egressToken } from './egress-key.ts';
import { keepEgressProxy } from './keep-proxy.ts';
import type { EgressProxy } from './keep-proxy.ts';
import type { ContainersOptions } from './options.ts';
import type { Owner } from './owner.ts';
import { createRetry } from './retry.ts';
import type { RetryOutage } from './retry.ts';

/** What an owner has once, beside its containers: its sweeper, its volumes, its egress proxy. */
interface OwnerParts {
  /** Resolves when a container can be made. */
  of(owner: Owner): Promise<Ready>;
  /** Ends the egress proxy; resolves when its last words are in the log, or cannot be waited for. */
  close(ownerId: string): Promise<void>;
  /** Nothing of the owner is left: its sweeper may end. */
  forget(ownerId: string): void;
}

interface Ready {
  /** Starts the egress proxy when it is first asked for, and resolves when it runs. */
  wayOut(): Promise<void>;
  /** Proves to the egress proxy which client it is; null where there is no proxy. */
  tokenOf(client: number): string | null;
}

interface Parts {
  readonly sweeper: { close(): void };
  made: Made | undefined;
}

interface Made {
  /** With the key of the egress proxy, where there is one. */
  readonly volumes: Promise<string | null>;
  proxy: Promise<EgressProxy | null> | undefined;
}

export function createOwnerParts(options: ContainersOptions, retry = createRetry(options.engine)): OwnerParts {
  const owners = new Map<string, Parts>();
  return {
    of: async (owner) => {
      const known = owners.get(owner.id);
      const parts = known ?? { sweeper: options.startSweeper(owner), made: undefined };
      if (known === undefined) owners.set(owner.id, parts);
      const made = (parts.made ??= make(options, owner));
      const key = await made.volumes.catch((error: unknown) => {
        // What could not be made is tried again with the next container.
        if (parts.made === made) parts.made = undefined;
        throw error;
      });
      return {
        tokenOf: (client) => (key === null ? null : egressToken(key, client)),
        wayOut: () => startProxy(made, () => makeProxy(options, { owner, key, retry })),
      };
    },
    close: async (ownerId) => {
      const proxy = await owners.get(ownerId)?.made?.proxy?.catch(() => null);
      await proxy?.close();
    },
    forget: (ownerId) => {
      owners.get(ownerId)?.sweeper.close();
      owners.delete(ownerId);
    },
  };
}

async function startProxy(made: Made, make: () => Promise<EgressProxy | null>): Promise<void> {
  const making = (made.proxy ??= make());
  try {
    const proxy = await making;
    await proxy?.started;
  } catch (error) {
    // As with the volumes.
    if (made.proxy === making) made.proxy = undefined;
    throw error;
  }
}

function make({ engine, egress, volumes }: ContainersOptions, owner: Owner): Made {
  const made = Promise.all([
    egress === null ? null : egressKey(engine, owner),
    ...volumes.map(({ name, labels }) => engine.createVolume(name, labels)),
  ]).then(([key]) => key);
  return { volumes: made, proxy: undefined };
}

async function makeProxy(
  { engine, egress }: ContainersOptions,
  { owner, key, retry }: { owner: Owner; key: string | null; retry: RetryOutage },
): Promise<EgressProxy | null> {
  if (egress === null || key === null) return null;
  return keepEgressProxy(engine, { egress, program: await egress.program, owner, key, retry });
}
