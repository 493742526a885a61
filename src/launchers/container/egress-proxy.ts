import path from 'node:path';
import type { ContainerSpec, Engine } from '../../engines/index.ts';
import { hasCode, sleep } from '../../lib/index.ts';
import { EGRESS_LOG, INSIDE } from '../../protocol/index.ts';
import type { WorkerSpec } from '../launcher.ts';
import { egressVolume } from './container-spec.ts';
import { LABEL, runLabels } from './labels.ts';
import { keepOutput, resumeOutput } from './output.ts';
import type { Output } from './output.ts';
import type { Patience } from './outage.ts';
import type { ContainerSettings, EgressProgram } from './settings.ts';

const MEMORY_BYTES = 512 * 1024 * 1024;
const PIDS = 64;
const LOG_BYTES = 10 * 1024 * 1024;
/** One that ends again and again is no passing trouble; without it workers have no network, which they say. */
const STARTS = 10;
const START_AGAIN_MS = 500;
/** For its last words. */
const FAREWELL_MS = 3000;

export interface EgressProxy {
  /** Resolves when it runs; rejects when it cannot be started. */
  readonly started: Promise<void>;
  /** Ends it, and not just kills it: it has counts to tell. Resolves when they are in the log, or cannot be waited for. */
  close(): Promise<void>;
}

type Run = Pick<WorkerSpec, 'runId' | 'feature' | 'shared' | 'log'>;

interface Proxy {
  readonly id: string;
  readonly output: Output;
}

interface ProxyWishes {
  readonly settings: ContainerSettings;
  readonly program: EgressProgram;
  readonly run: Run;
  readonly patience: Patience;
}

/** The one way out for all workers of a run. It is kept running until closed, and goes with the run's sweep. */
export function keepEgressProxy(engine: Engine, wishes: ProxyWishes): EgressProxy {
  const { settings, program, run, patience } = wishes;
  const closing = new AbortController();
  const begin = (): Promise<Proxy> => patience(() => findOrStart(engine, settings, program, run));
  const first = begin();
  let latest: Promise<Proxy | undefined> = first;
  const keep = async (): Promise<void> => {
    await first;
    for (let starts = 1; ; starts += 1) {
      const proxy = await latest;
      if (proxy !== undefined) await patience(() => engine.waitContainer(proxy.id));
      await proxy?.output.settled();
      if (starts >= STARTS) return;
      await sleep(START_AGAIN_MS, closing.signal);
      if (closing.signal.aborted) return;
      // One more start that fails is no reason to give up the next.
      latest = begin().catch(() => undefined);
    }
  };
  // What goes wrong with the engine itself is told by whoever waits for workers.
  const over = keep().catch(() => undefined);
  const end = async (): Promise<void> => {
    const proxy = await latest;
    if (proxy !== undefined) await engine.signalContainer(proxy.id, 'SIGTERM');
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

/** A run that is resumed finds the proxy of its first orchestrator, as long as that has its lease. */
async function findOrStart(
  engine: Engine,
  settings: ContainerSettings,
  program: EgressProgram,
  run: Run,
): Promise<Proxy> {
  const log = path.join(path.dirname(run.log), EGRESS_LOG);
  const there = await engine.listContainers({ [LABEL.run]: run.runId, [LABEL.role]: 'egress' });
  const live = there.find(({ status }) => status === 'running');
  if (live !== undefined) return { id: live.id, output: resumeOutput(engine, live.id, log, []) };
  for (const { id } of there) await engine.removeContainer(id);
  const id = await create(engine, proxySpec(settings, program, run));
  try {
    const attachment = await engine.attach(id);
    attachment.stdin.on('error', () => undefined);
    const output = keepOutput(attachment, log, []);
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
      if (!hasCode(error, 'CONTAINER_NAME_TAKEN') || attempt === STARTS) throw error;
      await sleep(START_AGAIN_MS);
    }
  }
}

function proxySpec(settings: ContainerSettings, program: EgressProgram, run: Run): ContainerSpec {
  return {
    name: egressVolume(run.runId),
    image: settings.image,
    command: program.command,
    env: program.env,
    uid: settings.uid,
    gid: settings.gid,
    workdir: '/',
    labels: { ...runLabels({ ...run, repo: settings.repo }), [LABEL.role]: 'egress' },
    mounts: [
      { kind: 'volume', name: egressVolume(run.runId), target: INSIDE.egress, readOnly: false },
      { kind: 'bind', source: run.shared, target: INSIDE.shared, readOnly: true },
    ],
    network: 'bridge',
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
    pids: PIDS,
    stdin: true,
    runtime: settings.runtime,
    logBytes: LOG_BYTES,
  };
}
