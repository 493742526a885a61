import path from 'node:path';
import { gitErrors } from '../../git/errors.ts';
import { checkoutNotes } from '../../git/index.ts';
import { listed } from '../../lib/index.ts';
import { resumeRun, startRun } from '../../orchestrator/index.ts';
import type { RunContext, RunEnd } from '../../orchestrator/index.ts';
import type { AgentSpec } from '../../protocol/index.ts';
import { branchNames, EGRESS_LOG } from '../../protocol/index.ts';
import type { RunSettings, RunState, StateStore } from '../../state/index.ts';
import {
  agentSpec,
  checkAgent,
  clearGoneRuns,
  clearOrphans,
  leftWork,
  openProject,
  rememberContainers,
  runOptions,
  runSettings,
  sweepRun,
  tallyNetwork,
  wirePorts,
  wireWorkers,
} from '../../project/index.ts';
import type { NetworkTally, Project, Workers } from '../../project/index.ts';
import { findGraph, readWishes } from './build-wishes.ts';
import type { Wishes } from './build-wishes.ts';
import { textOf } from '../command.ts';
import type { CliContext, CommandInput } from '../command.ts';
import { projectErrors } from '../../project/errors.ts';
import type { Prepared } from './prepared.ts';
import { showPlan } from './show-plan.ts';
import { createRenderer } from '../render/create-renderer.ts';
import type { Renderer } from '../render/renderer.ts';
import { checkTrust, configOf, readSettings, trustNotes } from '../trust-config.ts';
import { modeTeller, unprotectedLines } from '../render/mode-line.ts';
import { modeOfRun } from './run-mode.ts';

/** `kurukshetra`: from the command line to a merged branch. */
export async function build(input: CommandInput, context: CliContext): Promise<number> {
  const wishes = readWishes(input);
  const project = await openProject(context);
  const asked = await readSettings(project, context);
  const config = configOf(project, asked);
  const { graph, warnings, text } = await findGraph(project, wishes, textOf(input['feature']));
  if (!wishes.dryRun) await checkTrust(project, asked, wishes.trustConfig, context);
  const tell = modeTeller(context, wishes.json);
  const mode = await modeOfRun({ project, config, graph, wishes }, context, tell);
  const workers = wishes.workers ?? config.workers.count;
  const settings = runSettings(config, { workers, mode: mode.name, agent: wishes.agent ?? config.agent });
  const prepared: Prepared = {
    project,
    config,
    graph,
    graphText: text,
    settings,
    mode,
    tell,
    notes: [...(wishes.dryRun ? trustNotes(asked) : []), ...warnings],
  };
  if (wishes.dryRun) return showPlan(prepared, wishes.json, context);
  const store = project.store(graph.feature);
  // What is wrong is told before anything is written; when there is a live run, that is what is wrong.
  await project.repository.repairRecords();
  const live = (await store.holder()) !== undefined;
  const planned = live ? undefined : await planStart(prepared, wishes, context);
  const release = await store.lock();
  try {
    // Somebody else may have come and gone before the lock was ours.
    const same = planned !== undefined && (await store.read())?.updatedAt === planned.known?.updatedAt;
    const start = same ? planned : await planStart(prepared, wishes, context);
    return await buildLocked({ ...prepared, store }, start, wishes, context);
  } finally {
    await release();
  }
}

interface Start {
  /** The run that is resumed. */
  readonly known: RunState | undefined;
  readonly settings: RunSettings;
  readonly agent: AgentSpec;
  readonly workers: Workers;
  readonly base: string;
}

async function planStart(prepared: Prepared, wishes: Wishes, context: CliContext): Promise<Start> {
  const { project, graph, config } = prepared;
  const known = await project.store(graph.feature).read();
  if (known !== undefined && !wishes.resume) {
    throw projectErrors.RUN_EXISTS({
      feature: graph.feature,
      status: known.status === 'running' ? 'broken off' : known.status,
    });
  }
  if (known === undefined && wishes.resume)
    throw (await leftWork(project, graph.feature)) ?? projectErrors.NOTHING_TO_RESUME({ feature: graph.feature });
  const settings = known === undefined ? prepared.settings : resumedSettings(known, prepared, wishes);
  const agent = agentSpec(config, settings.agent);
  if (prepared.mode.name === 'subprocess' && graph.tasks.some((task) => task.run === null))
    await checkAgent(agent, graph, context.env);
  const workers = await wireWorkers({ ...prepared, agent, env: context.env });
  const base = known?.base ?? (await project.repository.resolve(wishes.base ?? 'HEAD'));
  if (known === undefined) await checkNothingLeft(project, graph.feature);
  return { known, settings, agent, workers, base };
}

/** `store` is the one that holds the feature's lock. */
type Locked = Prepared & { readonly store: StateStore };

async function buildLocked(prepared: Locked, start: Start, wishes: Wishes, context: CliContext): Promise<number> {
  const { project, graph, config } = prepared;
  const { known, settings, agent, workers, base } = start;
  const [copies, ...notes] = await Promise.all([
    project.repository.untrackedFiles(config.workers.copy),
    uncommittedNote(project, known),
    prepared.mode.name === 'container' ? checkoutNotes(project.repository, base) : [],
  ]);
  await prepared.store.makeWorkers();
  await prepared.store.keepGraph(prepared.graphText);
  if (prepared.mode.name === 'container') await rememberContainers(project.repository.commonDir, context.env);
  prepared.tell(prepared.mode, unprotectedLines(prepared.mode, agent, graph));
  const renderer = await createRenderer({ context, graph, json: wishes.json });
  const stop = stopSignal(context);
  const run: RunContext = {
    graph,
    ports: wirePorts(project, prepared.store, workers.launcher, renderer.event),
    options: runOptions({ config, agent, copies, deadlineMs: wishes.deadlineMs, ...workers, stop }),
  };
  for (const note of [...prepared.notes, ...notes.flat()]) renderer.note(note);
  const warned = workers.warnings.then((warnings) => warnings.forEach((warning) => renderer.note(warning)));
  // Workers of another kind would go on under the same numbers.
  if (known !== undefined && known.settings.mode !== settings.mode) await sweepRun(known, context.env);
  for (const note of [...(await clearLeftRuns(prepared, known)), ...(await clearGoneRuns(context.env))])
    renderer.note(note);
  context.onForce(async () => {
    const state = await run.ports.store.read();
    if (state !== undefined) await run.ports.launcher.sweep(state.runId);
  });
  return await finishedRun(run, { known, settings, base, renderer, warned });
}

/** Work of a run whose state is gone is still somebody's work; and git keeps no branch below another branch. */
async function checkNothingLeft(project: Project, feature: string): Promise<void> {
  const { integration } = branchNames(feature);
  const above = ['mahabharatha', `mahabharatha/${feature}`];
  const inTheWay = await Promise.all(above.map((branch) => project.repository.readRef(`refs/heads/${branch}`)));
  const branch = above.find((_, index) => inTheWay[index] !== undefined);
  if (branch !== undefined) throw gitErrors.BRANCH_BLOCKS_NAMESPACE({ branch, wanted: integration });
  const left = await leftWork(project, feature);
  if (left !== undefined) throw left;
}

interface Going {
  readonly known: RunState | undefined;
  readonly settings: RunSettings;
  readonly base: string;
  readonly renderer: Renderer;
  /** All warnings have been shown. */
  readonly warned: Promise<void>;
}

async function finishedRun(run: RunContext, { known, settings, base, renderer, warned }: Going): Promise<number> {
  let end: RunEnd | undefined;
  try {
    end = known === undefined ? await startRun(run, settings, base) : await resumeRun(run, known, settings);
    return end.exit;
  } finally {
    await warned;
    await renderer.close(end && { state: end.state, network: await networkOf(run, end) });
  }
}

/** What cannot be counted is no reason to let a run fail that is over. */
function networkOf({ ports }: RunContext, { state }: RunEnd): Promise<NetworkTally | undefined> {
  const file = path.join(ports.store.paths.logs, EGRESS_LOG);
  return tallyNetwork(file, state.startedAt).catch(() => undefined);
}

/** Today's configuration counts (gates may have been mended); workers and agent stay unless they are named anew. */
function resumedSettings(known: RunState, { settings }: Prepared, wishes: Wishes): RunSettings {
  return {
    ...settings,
    workers: wishes.workers ?? known.settings.workers,
    agent: wishes.agent ?? known.settings.agent,
  };
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

const STOP_CAUSES: Readonly<Record<number, string>> = {
  129: 'the terminal is gone (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'asked to stop (SIGTERM)',
};

function stopSignal({ interrupted }: CliContext): AbortSignal {
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

async function uncommittedNote(project: Project, known: RunState | undefined): Promise<string[]> {
  if (known !== undefined) return [];
  const files = (await project.repository.uncommitted()).filter((file) => !file.startsWith('.mahabharatha/'));
  if (files.length === 0) return [];
  return [`workers start from the last commit; not in it: ${listed(files, 5)}`];
}
