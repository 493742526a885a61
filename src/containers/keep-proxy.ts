import type { ProxyProgram } from '../egress/rules/index.ts';
import type { Engine } from '../engines/index.ts';
import { keyedDigest, randomId, reasonOf, sleep, within } from '../lib/index.ts';
import { openLogFile } from '../logs/index.ts';
import { EGRESS_KEY, INSIDE } from '../protocol/index.ts';
import type { LogLine } from '../protocol/index.ts';
import { bind, NO_PROOFS } from './container-wish.ts';
import type { Upkeep } from './container-wish.ts';
import { egressVolume } from './egress-key.ts';
import type { Egress } from './options.ts';
import { keepOutput, resumeOutput } from './output.ts';
import type { Output } from './output.ts';
import { EGRESS_ROLE, LABEL } from './owner.ts';
import type { Owner } from './owner.ts';
import type { RetryOutage } from './retry.ts';
import { startContainer } from './start-container.ts';
import type { StartWish } from './start-container.ts';

const MEMORY_BYTES = 512 * 1024 * 1024;
const PIDS = 64;
/** It writes no files. */
const FILE_BYTES = 1024 * 1024;
/** When the proxy ends too often, the next start waits, and its clients have no network meanwhile. */
const STARTS: Starts = { most: 10, withinMs: 5 * 60_000, againMs: 500 };
/** Of its log, on the host. */
const KEPT_BYTES = 64 * 1024 * 1024;
const MINUTE_MS = 60_000;
/** For the counts that it logs when it ends. */
const LAST_OUTPUT_MS = 3000;

export interface EgressProxy {
  /** Resolves when it runs; rejects when it cannot be started. */
  readonly started: Promise<void>;
  /** Asks it to end, so that it logs its last counts. Resolves when these are in the log, or after a limit. */
  close(): Promise<void>;
}

interface Proxy {
  readonly id: string;
  readonly output: Output;
}

interface Starts {
  readonly most: number;
  readonly withinMs: number;
  readonly againMs: number;
}

interface ProxyWishes {
  readonly egress: Egress;
  readonly owner: Owner;
  /** With it the proxy checks its clients. */
  readonly key: string;
  readonly retry: RetryOutage;
  readonly starts?: Starts;
}

/** Keeps the egress proxy of an owner running until it is closed. The owner's sweep removes it. */
export function keepEgressProxy(engine: Engine, wishes: ProxyWishes): EgressProxy {
  const { retry, owner, starts = STARTS } = wishes;
  const closing = new AbortController();
  const begin = (): Promise<Proxy> => retry(() => findOrStart(engine, wishes));
  const first = begin();
  let latest: Promise<Proxy | string> = first;
  const keep = async (): Promise<void> => {
    await first;
    const pause = createPause(owner.egressLog, starts, closing.signal);
    for (;;) {
      const proxy = await latest;
      const end = typeof proxy === 'string' ? proxy : await endOfProxy(engine, proxy, retry);
      await pause(end);
      if (closing.signal.aborted) return;
      // After a start that fails there is another one.
      latest = begin().catch(reasonOf);
    }
  };
  // An error of the engine is seen where the containers are waited for.
  const over = keep().catch(() => undefined);
  const end = async (): Promise<void> => {
    const proxy = await latest;
    if (typeof proxy !== 'string') await engine.signalContainer(proxy.id, 'SIGTERM');
  };
  return {
    started: first.then(() => undefined),
    close: async () => {
      closing.abort();
      const ended = end().then(
        () => over,
        () => undefined,
      );
      await within(LAST_OUTPUT_MS, ended);
    },
  };
}

/** How it ended, in words, once all its output is in the log. */
async function endOfProxy(engine: Engine, { id, output }: Proxy, retry: RetryOutage): Promise<string> {
  const { code, oomKilled } = await retry(() => engine.waitContainer(id));
  await output.settled();
  return oomKilled ? 'its memory was used up' : `it ended with code ${code ?? 'unknown'}`;
}

/** Waits before the next start: a moment, or longer after too many starts. */
function createPause(
  log: string,
  { most, withinMs, againMs }: Starts,
  signal: AbortSignal,
): (end: string) => Promise<void> {
  let starts = [performance.now()];
  return async (end) => {
    starts = starts.filter((time) => performance.now() - time < withinMs);
    const tooMany = starts.length >= most;
    if (tooMany && !signal.aborted) await logPause(log, { most, withinMs }, end);
    await sleep(tooMany ? withinMs : againMs, signal);
    starts = [...(tooMany ? [] : starts), performance.now()];
  };
}

/** Work fails without a network: the log gives the reason. */
async function logPause(
  file: string,
  { most, withinMs }: Pick<Starts, 'most' | 'withinMs'>,
  end: string,
): Promise<void> {
  const minutes = withinMs / MINUTE_MS;
  const text =
    `no worker has a network any more: the egress proxy has ended ${most} times within ${minutes} minutes ` +
    `(the last time: ${end}). It is started again in ${minutes} minutes.`;
  // The text is about all workers; a line names one, and worker 0 is always there.
  const line: LogLine = { at: new Date().toISOString(), worker: 0, source: 'egress', text };
  const log = openLogFile(file, { limitBytes: KEPT_BYTES });
  log.write(`${JSON.stringify(line)}\n`);
  await log.close();
}

/** A resumed owner finds its earlier proxy when its lease has not ended. With another access to the model it is replaced. */
async function findOrStart(engine: Engine, wishes: ProxyWishes): Promise<Proxy> {
  const { owner, egress, key } = wishes;
  const log = owner.egressLog;
  const program = await egress.program;
  const there = await engine.listContainers({ [LABEL.owner]: owner.id, [LABEL.role]: EGRESS_ROLE });
  const live = there.find(
    ({ status, labels }) => status === 'running' && labels[LABEL.egressAccess] === accessMark(egress.access, key),
  );
  if (live !== undefined) return { id: live.id, output: resumeOutput(engine, live.id, { log }) };
  for (const { id } of there) await engine.removeContainer(id);
  const keep: Upkeep['keep'] = (attachment) => keepOutput(attachment, { log });
  const { info, output } = await startContainer(engine, proxyWish(wishes, program), { keep, ...NO_PROOFS });
  return { id: info.id, output };
}

/** Tells one access from another, and nothing else: both the key and a credential are long and random. */
function accessMark(access: Egress['access'], key: string): string {
  return access === null ? '' : keyedDigest(key, JSON.stringify(access));
}

function proxyWish({ egress, owner, key }: ProxyWishes, program: ProxyProgram): StartWish {
  const session = randomId();
  const name = egressVolume(owner.id);
  return {
    owner,
    role: EGRESS_ROLE,
    session,
    labels: { [LABEL.egressAccess]: accessMark(egress.access, key) },
    // A proxy that has just ended keeps its name for a moment.
    names: [name, `${name}-${session}`],
    image: egress.image,
    command: program.command,
    env: { ...program.env, [EGRESS_KEY]: key },
    uid: egress.uid,
    gid: egress.gid,
    workdir: '/',
    mounts: [
      { kind: 'volume', name, target: INSIDE.egress, readOnly: false },
      bind(owner.leaseFolder, INSIDE.shared, true),
    ],
    network: 'bridge',
    client: null,
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
    pids: PIDS,
    fileBytes: FILE_BYTES,
    runtime: egress.runtime,
    firstLine: egress.access === null ? null : async () => JSON.stringify(egress.access),
  };
}
