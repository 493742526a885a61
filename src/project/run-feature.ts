import { existsSync } from 'node:fs';
import path from 'node:path';
import { checkoutNotes } from '../git/index.ts';
import { listed } from '../lib/index.ts';
import { resumeRun, startRun } from '../orchestrator/index.ts';
import type { RunContext, RunEnd } from '../orchestrator/index.ts';
import { EGRESS_LOG } from '../protocol/index.ts';
import type { RunState, StateStore } from '../state/index.ts';
import { rememberContainers } from './container-memory.ts';
import { removeEmptyFolders } from './empty-folders.ts';
import { tallyNetwork } from './network-tally.ts';
import type { NetworkTally } from './network-tally.ts';
import { clearOrphans } from './orphans.ts';
import { planStart } from './plan-start.ts';
import type { Start } from './plan-start.ts';
import type { Prepared } from './prepare-run.ts';
import type { Project } from './project.ts';
import { clearGoneRuns } from './run-folders.ts';
import type { RunFace, RunHost, RunListener } from './run-listener.ts';
import { stopSignal } from './stop-signal.ts';
import { unprotectedLines } from './unprotected.ts';
import { runOptions, sweepRun, wirePorts } from './wire.ts';

/** From a prepared run to its end. Planned under the lock, so no other process changes what the plan is made from. */
export async function runFeature(prepared: Prepared, host: RunHost, face: RunFace): Promise<RunEnd> {
  const { project, graph } = prepared;
  const store = project.store(graph.feature);
  await project.repository.repairRecords();
  const isNew = !existsSync(store.paths.folder);
  const release = await store.lock();
  let planned = false;
  try {
    const start = await planStart(prepared, host.env);
    planned = true;
    return await runLocked({ prepared, start, store }, host, face);
  } finally {
    await release();
    if (isNew && !planned) await removeEmptyFolders(project, store.paths);
  }
}

interface Locked {
  readonly prepared: Prepared;
  readonly start: Start;
  /** Holds the feature's lock. */
  readonly store: StateStore;
}

async function runLocked(locked: Locked, host: RunHost, face: RunFace): Promise<RunEnd> {
  const { project, graph, config, mode, wishes } = locked.prepared;
  const { agent, workers } = locked.start;
  const [copies, notes] = await Promise.all([
    project.repository.untrackedFiles(config.workers.copy),
    notesOnStart(locked),
  ]);
  await makeReady(locked, host);
  face.mode(mode, unprotectedLines(mode, agent, graph));
  const listener = await face.open(graph);
  const stop = stopSignal(host.interrupted);
  const run: RunContext = {
    graph,
    ports: wirePorts(project, locked.store, workers.launcher, listener.event),
    options: runOptions({ config, agent, copies, deadlineMs: wishes.deadlineMs ?? null, ...workers, stop }),
  };
  for (const note of notes) listener.note(note);
  const warned = workers.warnings.then((warnings) => warnings.forEach((warning) => listener.note(warning)));
  for (const note of await clearLeftovers(locked, host)) listener.note(note);
  host.onForce(async () => {
    const state = await run.ports.store.read();
    if (state !== undefined) await run.ports.launcher.sweep(state.runId);
  });
  return await finishedRun(run, { ...locked.start, listener, warned });
}

async function notesOnStart({ prepared, start }: Locked): Promise<readonly string[]> {
  const { project, mode } = prepared;
  const found = await Promise.all([
    uncommittedNote(project, start.known),
    mode.name === 'container' ? checkoutNotes(project.repository, start.base) : [],
  ]);
  return [...prepared.notes, ...found.flat()];
}

async function makeReady({ prepared, store }: Locked, { env }: RunHost): Promise<void> {
  await store.makeWorkers();
  await store.keepGraph(prepared.graphText);
  if (prepared.mode.name === 'container') await rememberContainers(prepared.project.repository.commonDir, env);
}

/** What earlier runs have left running or lying about. Returns what there is to say of it. */
async function clearLeftovers({ prepared, start }: Locked, { env }: RunHost): Promise<readonly string[]> {
  const { known, settings } = start;
  // Workers of another kind would go on under the same numbers.
  if (known !== undefined && known.settings.mode !== settings.mode) await sweepRun(known, env);
  return [...(await clearLeftRuns(prepared, known)), ...(await clearGoneRuns(env))];
}

interface Going extends Start {
  readonly listener: RunListener;
  /** All warnings have been passed on. */
  readonly warned: Promise<void>;
}

async function finishedRun(run: RunContext, { known, settings, base, listener, warned }: Going): Promise<RunEnd> {
  let end: RunEnd | undefined;
  try {
    end = known === undefined ? await startRun(run, settings, base) : await resumeRun(run, known, settings);
    return end;
  } finally {
    await warned;
    await listener.close(end && { state: end.state, network: await networkOf(run, end) });
  }
}

/** What cannot be counted is no reason to let a run fail that is over. */
function networkOf({ ports }: RunContext, { state }: RunEnd): Promise<NetworkTally | undefined> {
  const file = path.join(ports.store.paths.logs, EGRESS_LOG);
  return tallyNetwork(file, state.startedAt).catch(() => undefined);
}

/** We hold the feature's lock: what its other runs have left has no owner, and what lives of a resumed one is ours. */
async function clearLeftRuns(
  { project, graph, config, mode }: Prepared,
  known: RunState | undefined,
): Promise<string[]> {
  if (mode.name === 'subprocess') return [];
  const mine = { feature: graph.feature, runId: known?.runId ?? null };
  return clearOrphans(mode.engine, { project, leaseMs: config.workers.lease, mine });
}

async function uncommittedNote(project: Project, known: RunState | undefined): Promise<string[]> {
  if (known !== undefined) return [];
  const files = (await project.repository.uncommitted()).filter((file) => !file.startsWith('.mahabharatha/'));
  if (files.length === 0) return [];
  return [`workers start from the last commit; not in it: ${listed(files, 5)}`];
}
