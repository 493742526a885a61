import { engineErrors } from '../engines/errors.ts';
import type { ContainerSpec, Engine } from '../engines/index.ts';
import { hasCode, reasonOf, sleep } from '../lib/index.ts';
import { openLogFile } from '../logs/index.ts';
import { EGRESS_KEY, INSIDE } from '../protocol/index.ts';
import type { LogLine } from '../protocol/index.ts';
import { defaultsOf, withoutVariables, withoutVolumes } from './image-defaults.ts';
import type { ImageDefaults } from './image-defaults.ts';
import { egressVolume } from './egress-key.ts';
import { EGRESS_ROLE, LABEL } from './labels.ts';
import { keepOutput, resumeOutput } from './output.ts';
import type { Output } from './output.ts';
import type { Egress, EgressProgram } from './options.ts';
import type { Owner } from './owner.ts';
import { ownerLabels } from './owner.ts';
import type { RetryOutage } from './retry.ts';

const MEMORY_BYTES = 512 * 1024 * 1024;
const PIDS = 64;
/** It writes none. */
const FILE_BYTES = 1024 * 1024;
const LOG_BYTES = 10 * 1024 * 1024;
/** One that ends again and again is no passing trouble: then it gets a rest, and its clients have no network meanwhile. */
const STARTS: Starts = { most: 10, withinMs: 5 * 60_000, againMs: 500 };
const NAME_TRIES = 10;
const NAME_AGAIN_MS = 500;
/** Of what it says, on the host. */
const KEPT_BYTES = 64 * 1024 * 1024;
const MINUTE_MS = 60_000;
/** For its last words. */
const FAREWELL_MS = 3000;

export interface EgressProxy {
  /** Resolves when it runs; rejects when it cannot be started. */
  readonly started: Promise<void>;
  /** Ends it, and not just kills it: it has counts to tell. Resolves when they are in the log, or cannot be waited for. */
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
  readonly egress: Omit<Egress, 'program'>;
  readonly program: EgressProgram;
  readonly owner: Owner;
  /** By which it knows its clients. */
  readonly key: string;
  readonly retry: RetryOutage;
  readonly starts?: Starts;
}

/** The one way out for all containers of an owner. It is kept running until closed, and goes with the owner's sweep. */
export function keepEgressProxy(engine: Engine, wishes: ProxyWishes): EgressProxy {
  const { retry, owner, starts = STARTS } = wishes;
  const closing = new AbortController();
  const begin = (): Promise<Proxy> => retry(() => findOrStart(engine, wishes));
  const first = begin();
  let latest: Promise<Proxy | string> = first;
  const keep = async (): Promise<void> => {
    await first;
    const rest = createRest(owner.egressLog, starts, closing.signal);
    for (;;) {
      const proxy = await latest;
      const end = typeof proxy === 'string' ? proxy : await endOfProxy(engine, proxy, retry);
      await rest(end);
      if (closing.signal.aborted) return;
      // One more start that fails is no reason to give up the next.
      latest = begin().catch(reasonOf);
    }
  };
  // An engine that fails is noticed by those who wait for the containers.
  const over = keep().catch(() => undefined);
  const end = async (): Promise<void> => {
    const proxy = await latest;
    if (typeof proxy !== 'string') await engine.signalContainer(proxy.id, 'SIGTERM');
  };
  return {
    started: first.then(() => undefined),
    close: async () => {
      closing.abort();
      const asked = new AbortController();
      await Promise.race([
        end().then(
          () => over,
          () => undefined,
        ),
        sleep(FAREWELL_MS, asked.signal),
      ]);
      asked.abort();
    },
  };
}

/** In words, when all that it has said is in the log. */
async function endOfProxy(engine: Engine, { id, output }: Proxy, retry: RetryOutage): Promise<string> {
  const { code, oomKilled } = await retry(() => engine.waitContainer(id));
  await output.settled();
  return oomKilled ? 'its memory was used up' : `it ended with code ${code ?? 'unknown'}`;
}

/** Waits before the next start: a moment, or for long after many that did no good. */
function createRest(
  log: string,
  { most, withinMs, againMs }: Starts,
  signal: AbortSignal,
): (end: string) => Promise<void> {
  let starts = [performance.now()];
  return async (end) => {
    starts = starts.filter((time) => performance.now() - time < withinMs);
    const tooMany = starts.length >= most;
    if (tooMany && !signal.aborted) await tellOfRest(log, { most, withinMs }, end);
    await sleep(tooMany ? withinMs : againMs, signal);
    starts = [...(tooMany ? [] : starts), performance.now()];
  };
}

/** Work fails without a network, and the log is where its reason is looked for. */
async function tellOfRest(
  file: string,
  { most, withinMs }: Pick<Starts, 'most' | 'withinMs'>,
  end: string,
): Promise<void> {
  const minutes = withinMs / MINUTE_MS;
  const text =
    `no worker has a network any more: the egress proxy has ended ${most} times within ${minutes} minutes ` +
    `(the last time: ${end}). It is started again in ${minutes} minutes.`;
  // It is about all of them; a line has one, and the first is always there.
  const line: LogLine = { at: new Date().toISOString(), worker: 0, source: 'egress', text };
  const log = openLogFile(file, { limitBytes: KEPT_BYTES });
  log.write(`${JSON.stringify(line)}\n`);
  await log.close();
}

/** A resumed owner finds its earlier proxy, which lives as long as the lease. */
async function findOrStart(engine: Engine, wishes: ProxyWishes): Promise<Proxy> {
  const { owner } = wishes;
  const log = owner.egressLog;
  const there = await engine.listContainers({ [LABEL.owner]: owner.id, [LABEL.role]: EGRESS_ROLE });
  const live = there.find(({ status }) => status === 'running');
  if (live !== undefined) return { id: live.id, output: resumeOutput(engine, live.id, { log }) };
  for (const { id } of there) await engine.removeContainer(id);
  const id = await create(engine, proxySpec(wishes, await defaultsOf(engine, wishes.egress.image)));
  try {
    const attachment = await engine.attach(id);
    attachment.stdin.on('error', () => undefined);
    const output = keepOutput(attachment, { log });
    await engine.startContainer(id);
    return { id, output };
  } catch (error) {
    await engine.removeContainer(id).catch(() => undefined);
    throw error;
  }
}

/** One that has just ended has its name for a moment longer. */
async function create(engine: Engine, spec: ContainerSpec): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await engine.createContainer(spec);
    } catch (error) {
      if (!hasCode(error, engineErrors.CONTAINER_NAME_TAKEN) || attempt === NAME_TRIES) throw error;
      await sleep(NAME_AGAIN_MS);
    }
  }
}

function proxySpec({ egress, program, owner, key }: ProxyWishes, defaults: ImageDefaults): ContainerSpec {
  return {
    name: egressVolume(owner.id),
    image: egress.image,
    command: program.command,
    env: { ...withoutVariables(defaults), ...program.env, [EGRESS_KEY]: key },
    uid: egress.uid,
    gid: egress.gid,
    workdir: '/',
    labels: { ...ownerLabels(owner), [LABEL.role]: EGRESS_ROLE },
    mounts: withoutVolumes(
      defaults,
      [
        { kind: 'volume', name: egressVolume(owner.id), target: INSIDE.egress, readOnly: false },
        { kind: 'bind', source: owner.leaseFolder, target: INSIDE.shared, readOnly: true },
      ],
      { bytes: MEMORY_BYTES, uid: egress.uid, gid: egress.gid },
    ),
    network: 'bridge',
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
    pids: PIDS,
    fileBytes: FILE_BYTES,
    stdin: true,
    runtime: egress.runtime,
    logBytes: LOG_BYTES,
  };
}
