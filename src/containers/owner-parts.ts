import { NO_PROOFS } from './container-wish.ts';
import type { Proofs } from './container-wish.ts';
import { egressKey, egressToken } from './egress-key.ts';
import { keepEgressProxy } from './keep-proxy.ts';
import type { EgressProxy } from './keep-proxy.ts';
import type { ContainersOptions } from './options.ts';
import type { Owner } from './owner.ts';
import { createRetry } from './retry.ts';
import type { RetryOutage } from './retry.ts';

/** What an owner has once, beside its containers: its sweeper, its volumes, its egress proxy. */
export interface OwnerParts {
  /** Resolves when a container can be made. */
  of(owner: Owner): Promise<Ready>;
  /** Ends the egress proxy; resolves when its last output is in the log, or after a limit. */
  close(ownerId: string): Promise<void>;
  /** Nothing of the owner is left: its sweeper may end. */
  forget(ownerId: string): void;
}

interface Ready {
  /** Starts the egress proxy when it is first asked for, and resolves when it runs. */
  wayOut(): Promise<void>;
  /** What a client proves itself with to the egress proxy. */
  proofsOf(client: number, reach: string | undefined): Proofs;
}

interface Parts {
  readonly sweeper: { close(): void };
  /** Resolves when the owner's volumes are made, with the key of its egress proxy; null where there is no proxy. */
  key: Promise<string | null> | undefined;
  proxy: EgressProxy | undefined;
}

/** What could not be made is made anew with the next container. */
export function createOwnerParts(options: ContainersOptions, retry = createRetry(options.engine)): OwnerParts {
  const owners = new Map<string, Parts>();
  return {
    of: async (owner) => {
      const parts = owners.get(owner.id) ?? { sweeper: options.startSweeper(owner), key: undefined, proxy: undefined };
      owners.set(owner.id, parts);
      const making = (parts.key ??= makeVolumes(options, owner));
      const key = await making.catch((error: unknown) => {
        if (parts.key === making) parts.key = undefined;
        throw error;
      });
      return {
        proofsOf: (client, reach) => proofsOf(options, key, { client, reach }),
        wayOut: () => startProxy(options, parts, { owner, key, retry }),
      };
    },
    close: async (ownerId) => owners.get(ownerId)?.proxy?.close(),
    forget: (ownerId) => {
      owners.get(ownerId)?.sweeper.close();
      owners.delete(ownerId);
    },
  };
}

function proofsOf(
  { egress }: ContainersOptions,
  key: string | null,
  { client, reach }: { readonly client: number; readonly reach: string | undefined },
): Proofs {
  if (key === null || egress === null) return NO_PROOFS;
  const modelToken = egress.access === null ? null : egressToken(key, client, { way: 'model' });
  return { token: egressToken(key, client, { reach }), modelToken };
}

async function makeVolumes({ engine, egress, volumes }: ContainersOptions, owner: Owner): Promise<string | null> {
  const making = volumes.map(({ name, labels }) => engine.createVolume(name, labels));
  const [key] = await Promise.all([egress === null ? null : egressKey(engine, owner), ...making]);
  return key;
}

async function startProxy(
  { engine, egress }: ContainersOptions,
  parts: Parts,
  { owner, key, retry }: { owner: Owner; key: string | null; retry: RetryOutage },
): Promise<void> {
  if (egress === null || key === null) return;
  const proxy = (parts.proxy ??= keepEgressProxy(engine, { egress, owner, key, retry }));
  try {
    await proxy.started;
  } catch (error) {
    if (parts.proxy === proxy) parts.proxy = undefined;
    throw error;
  }
}
