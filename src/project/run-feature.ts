import { existsSync } from 'node:fs';
import path from 'node:path';
import { removeOrphans } from '../containers/index.ts';
import { checkoutNotes } from '../git/index.ts';
import { resumeRun, startRun } from '../orchestrator/index.ts';
import type { RunContext, RunEnd } from '../orchestrator/index.ts';
import { EGRESS_LOG } from '../protocol/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import type { StateStore } from '../state/index.ts';
import { mostMs } from './caps.ts';
import type { Task } from '../tasks/index.ts';
import { clearGoneRuns, removeEmptyFolders } from './left-work.ts';
import { tallyNetwork } from './network-tally.ts';
import type { NetworkTally } from './network-tally.ts';
import { orphanRuns } from './orphans.ts';
import { planRun } from './plan-run.ts';
import type { RunPlan } from './plan-run.ts';
import { rememberContainers } from './reasons-for-containers.ts';
import { agentOfTask } from './run-agents.ts';
import type { RunFace, RunHost, RunListener } from './run-face.ts';
import { runHook } from './run-hook.ts';
import { placeWorkers } from './project.ts';
import type { RunRequest } from './run-request.ts';
import { shellFolders } from './shell-folders.ts';
import { runOptions, sweepRun, wirePorts } from './wire.ts';
import { unprotectedLines } from './unprotected.ts';
import { wireSnapshots } from './wire-snapshots.ts';
import { throughResets } from './wait-for-reset.ts';
import { lookAtWork } from './work-now.ts';

/** Builds a feature, from the lock to the end of its run, and then runs the hook for such an end. */
export async function runFeature(asked: RunRequest, host: RunHost, face: RunFace): Promise<RunEnd> {
  const end = await buildFeature(asked, host, face);
  // The lock is free: a hook may merge.
  const hook = await runHook(asked, end, host);
  if (hook !== undefined) face.hook(hook);
  return end;
}

async function buildFeature(asked: RunRequest, host: RunHost, face: RunFace): Promise<RunEnd> {
  const project = await placeWorkers(asked.project, asked.config, host.env);
  const { graph } = asked;
  const store = project.store(graph.feature);
  await project.repository.repairRecords();
  const isNew = !existsSync(store.paths.folder);
  const release = await store.lock();
  try {
    return await throughResets(asked, host, face, async (wishes, spentMs) => {
      const plan = await planRun({ ...asked, wishes, project }, host, face);
      return carryOut({ ...plan, spentMs }, store, host, face);
    });
  } finally {
    await release();
    if (isNew && !existsSync(store.paths.state)) await removeEmptyFolders(project, store.paths);
  }
}

/** A plan, and how long this process has driven the run before. */
type TimedPlan = RunPlan & { readonly spentMs: number };

async function carryOut(plan: TimedPlan, store: StateStore, host: RunHost, face: RunFace): Promise<RunEnd> {
  const { project, graph, mode, used, settings, config, spentMs } = plan;
  const { launcher, env, redact, warnings } = plan.workers;
  const [copies, notes] = await Promise.all([
    project.repository.untrackedFiles(config.workers.copy),
    notesOnStart(plan),
  ]);
  await store.makeWorkers();
  await store.keepGraph(plan.graphText);
  if (mode.name === 'container') await rememberContainers(project.repository.commonDir, host.env);
  face.mode(mode, unprotectedLines(mode, used));
  for (const line of plan.workers.credentials) face.credentials(line);
  const listener = await face.open(graph, (state) => lookAtWork(store, state));
  const stop = stopSignal(host.interrupted);
  const { singleUse } = launcher.capabilities;
  const deadlineMs = mostMs(plan);
  const agentFor = (task: Task): AgentSpec => agentOfTask(config, settings.agent, task);
  const options = runOptions(config, { agentFor, copies, deadlineMs, spentMs, env, redact, stop, singleUse });
  const limitBytes = config.workers.container.snapshots;
  const snapshots = wireSnapshots({
    project,
    paths: store.paths,
    workers: plan.workers,
    options,
    feature: graph.feature,
    limitBytes,
  });
  void snapshots.makeRoom();
  const ports = wirePorts(project, store, { launcher, snapshots, emit: listener.event });
  const run: RunContext = { graph, ports, options };
  for (const note of notes) listener.note(note);
  const warned = warnings.then((texts) => texts.forEach((text) => listener.note(text)));
  for (const note of await clearLeftovers(plan, host)) listener.note(note);
  host.onForce(async () => {
    const state = await store.read();
    if (state !== undefined) await launcher.sweep(state.runId);
  });
  return await finishedRun(run, plan, listener, warned);
}

async function notesOnStart({ project, mode, base, warnings }: RunPlan): Promise<readonly string[]> {
  return [...warnings, ...(mode.name === 'container' ? await checkoutNotes(project.repository, base) : [])];
}

/** Ends and removes what earlier runs have left. Returns what there is to say of it. */
async function clearLeftovers(plan: RunPlan, { env }: RunHost): Promise<readonly string[]> {
  const { known, settings } = plan;
  // Workers of the other mode would otherwise live on under the same numbers.
  if (known !== undefined && known.settings.mode !== settings.mode) await sweepRun(known, env);
  const notes = await clearOrphans(plan);
  await shellFolders(plan.project, plan.graph.feature).clearGone();
  return [...notes, ...(await clearGoneRuns(env))];
}

/** We hold the feature's lock, so containers of its other runs have no owner; those of a resumed run are kept. */
async function clearOrphans({ project, graph, config, mode, known }: RunPlan): Promise<string[]> {
  if (mode.name === 'subprocess') return [];
  const mine = { feature: graph.feature, runId: known?.runId ?? null };
  return removeOrphans(mode.engine, orphanRuns({ project, leaseMs: config.workers.lease, mine }));
}

async function finishedRun(
  run: RunContext,
  { known, settings, base }: RunPlan,
  listener: RunListener,
  /** All warnings have been passed on. */
  warned: Promise<void>,
): Promise<RunEnd> {
  let end: RunEnd | undefined;
  try {
    end = known === undefined ? await startRun(run, settings, base) : await resumeRun(run, known, settings);
    return end;
  } finally {
    await warned;
    await listener.close(end && { state: end.state, network: await networkOf(run, end) });
  }
}

/** A run does not fail because its refusals cannot be counted. */
function networkOf({ ports }: RunContext, { state }: RunEnd): Promise<NetworkTally | undefined> {
  const file = path.join(ports.store.paths.logs, EGRESS_LOG);
  return tallyNetwork(file, state.startedAt).catch(() => undefined);
}

const STOP_CAUSES: Readonly<Record<number, string>> = {
  129: 'the terminal is gone (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'asked to stop (SIGTERM)',
};

/** Stops a run when it is interrupted. The reason of the given signal is an exit status, that of the new one has words. */
function stopSignal(interrupted: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    const exit = Number(interrupted.reason);
    controller.abort({
      status: 'stopped',
      exit,
      cause: STOP_CAUSES[exit] ?? 'the orchestrator met an error that it could not answer',
    });
  };
  if (interrupted.aborted) stop();
  interrupted.addEventListener('abort', stop, { once: true });
  return controller.signal;
}
