import path from 'node:path';
import { parseArgs } from 'node:util';
import { config, locales } from 'zod/mini';
import { watchLease } from '../../lease/index.ts';
import { readFirstLine, reasonOf, systemClock } from '../../lib/index.ts';
import { EGRESS_KEY, EGRESS_ORDERS, egressOrders } from '../../protocol/index.ts';
import { resolveName } from './admission.ts';
import { dial } from './dial.ts';
import { modelRoute, readModelAccess } from './model-route.ts';
import { createProxy, listen } from './proxy.ts';
import { createRefusalLog } from './refusal-log.ts';

/** The proxy outlives the workers: a worker looks at the lease once a second, and without a network it would report a failed task. */
const LATE_MS = 3000;
/** For the line with the access to the model. */
const ACCESS = { limitBytes: 1024 * 1024, timeoutMs: 60_000 };

/** The egress proxy: passes on what the rules allow, until it is asked to end or its owner is gone. */
async function main(socket: string, shared: string): Promise<void> {
  // The small zod has no words of its own for what does not fit.
  config(locales.en());
  const { rules, leaseMs, access } = egressOrders.parse(JSON.parse(process.env[EGRESS_ORDERS] ?? ''));
  const key = process.env[EGRESS_KEY] ?? '';
  if (key === '') throw new Error(`${EGRESS_KEY} is not set`);
  const model = access ? modelRoute(readModelAccess(await readFirstLine(process.stdin, ACCESS))) : undefined;
  const log = createRefusalLog((line) => process.stdout.write(line));
  const end = (): void => {
    log.flush();
    // Connections end with this process; the socket's path may belong to the next proxy by now, and stays.
    process.exit(0);
  };
  const file = path.join(shared, 'lease.json');
  const lease = watchLease({ file, leaseMs, clock: systemClock, lost: end, lateMs: LATE_MS });
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, end);
  for (const event of ['end', 'error'] as const) process.stdin.on(event, lease.hangUp);
  process.stdin.resume();
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  await listen(createProxy({ rules, key, resolve: resolveName, dial, log, model }), socket);
}

const { values } = parseArgs({ options: { socket: { type: 'string' }, shared: { type: 'string' } } });
const { socket, shared } = values;
if (socket === undefined || shared === undefined) {
  process.stderr.write(
    'The egress proxy is started by mahabharatha, never by a person: --socket and --shared are needed.\n',
  );
  process.exit(2);
}
// An error in one connection must not end the proxy: without it no worker has a network.
process.on('uncaughtException', (error) => process.stderr.write(`${reasonOf(error)}\n`));
try {
  await main(socket, shared);
} catch (error) {
  process.stderr.write(`The egress proxy cannot start: ${reasonOf(error)}\n`);
  process.exit(4);
}
