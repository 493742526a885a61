import { chmod, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { configErrors } from '../config/errors.ts';
import type { Owner } from '../containers/index.ts';
import type { Audience } from '../egress/rules/index.ts';
import { keepLease } from '../lease/index.ts';
import type { Environment } from '../lib/index.ts';
import { networkProblems, sessionNetwork } from './network.ts';
import type { SessionNetwork } from './network.ts';

/** How long the egress proxy goes on when its server is gone. */
const LEASE_MS = 60_000;
/** Root's proxy runs as no user of a usual system. */
const UID = 70_001;

interface NetworkRequest {
  readonly allow: readonly string[];
  /** Default: sessions of `serve`. */
  readonly audience?: Audience;
  readonly env: Environment;
  readonly owner: Pick<Owner, 'leaseFolder'>;
  /** The image with the egress proxy. */
  readonly image: string;
  readonly onNote: (note: string) => void;
}

/** The way out of sessions. Its lease is kept from the moment on at which the first session asks for it. Throws CONFIG_INVALID. */
export function openNetwork(
  { allow, audience, env, owner, image, onNote }: NetworkRequest,
  closing: (() => Promise<unknown>)[],
): SessionNetwork {
  const problems = networkProblems(allow);
  if (problems.length > 0) throw configErrors.CONFIG_INVALID({ file: 'the configuration', problems });
  const { leaseFolder } = owner;
  const begin = async (): Promise<void> => {
    await mkdir(leaseFolder, { recursive: true });
    const lease = await keepLease(path.join(leaseFolder, 'lease.json'), LEASE_MS);
    closing.push(async () => lease.close());
    // The proxy, which is another user for root, reads it.
    await chmod(leaseFolder, 0o755);
    await chmod(path.join(leaseFolder, 'lease.json'), 0o644);
  };
  const own = process.getuid?.() ?? 0;
  const uid = own === 0 ? UID : own;
  const proxy = { image, uid, gid: uid };
  const asked = { allow, audience, env, folder: leaseFolder, leaseMs: LEASE_MS };
  return sessionNetwork({ ...asked, proxy, begin, onWarning: onNote });
}
