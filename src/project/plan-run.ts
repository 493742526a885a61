import { AppError } from '../lib/index.ts';
import { gitErrors } from '../git/errors.ts';
import { mergedFeatures } from '../git/index.ts';
import { branchNames } from '../protocol/index.ts';
import type { RunSettings, RunState } from '../state/index.ts';
import { tasksAt } from '../tasks/index.ts';
import { checkCaps, chooseCaps } from './caps.ts';
import { checkAgents } from './check-agent.ts';
import { agentOf, chooseMode } from './choose-mode.ts';
import { containerOnlyNotes } from './container-only.ts';
import type { Mode, ModeLine } from './decide-mode.ts';
import { projectErrors } from './errors.ts';
import { leftWork, runElsewhere } from './left-work.ts';
import { needsRetry } from './needs-retry.ts';
import { placeWorkers } from './project.ts';
import type { Project } from './project.ts';
import { agentSpec, usedAgents } from './run-agents.ts';
import type { UsedAgent } from './run-agents.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunRequest, RunWishes } from './run-request.ts';
import { uncommittedNotes } from './uncommitted-notes.ts';
import type { Workers } from './run-workers.ts';
import { shortages } from './shortages.ts';
import { checkWorkers, runSettings, wireWorkers } from './wire.ts';

interface Settled extends RunRequest {
  readonly settings: RunSettings;
  /** The agents that its tasks ask. */
  readonly used: readonly UsedAgent[];
}

/** What a dry run shows. */
export interface RunPreview extends Settled {
  readonly mode: ModeLine;
  /** What the machine lacks for a run; null when one could begin. */
  readonly lack: AppError | null;
}

/** What a run starts with. */
export interface RunPlan extends Settled {
  readonly mode: Mode;
  /** The run that is resumed. */
  readonly known: RunState | undefined;
  readonly workers: Workers;
  readonly base: string;
}

/** What a run would do, with the same errors, but also on a machine that lacks what a run needs; starts and builds nothing. */
export async function previewRun(asked: RunRequest, host: RunHost, face: RunFace): Promise<RunPreview> {
  const project = await placeWorkers(asked.project, asked.config, host.env);
  const { wishes } = asked;
  // An ended run is no hindrance: a dry run may show the plan of the next one.
  const known = wishes.resume === true ? await knownRun({ ...asked, project }) : undefined;
  const request = { ...asked, project, ...agentsOf(asked, known) };
  await baseOf(request, known);
  try {
    const mode = await chooseMode(request, known, host, face);
    const more = await checkWorkers({ ...request, mode, env: host.env });
    const settled = await settle(request, known, mode);
    return { ...settled, mode, lack: null, warnings: [...settled.warnings, ...shortageNotes(settled, mode), ...more] };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'environment') throw error;
    const wished = wishes.mode ?? request.config.workers.mode;
    const mode = { name: 'container', wished, because: 'a run would take nothing else here' } as const;
    return { ...(await settle(request, known, mode)), mode, lack: error };
  }
}

/**
 * All that a run starts with. Errors of a start are thrown here, before anything but images is changed. The caller holds
 * the feature's lock, so what the plan is made from stays as it is.
 */
export async function planRun(asked: RunRequest, host: RunHost, face: RunFace): Promise<RunPlan> {
  const known = await knownRun(asked);
  const request = { ...asked, ...agentsOf(asked, known) };
  const mode = await chooseMode(request, known, host, face);
  const settled = await settle(request, known, mode);
  const warnings = [...settled.warnings, ...shortageNotes(settled, mode)];
  const workers = await wireWorkers({ ...settled, mode, env: host.env });
  await checkAgents(settled.used, workers.place, host.env);
  return { ...settled, warnings, mode, known, workers, base: await baseOf(request, known) };
}

/** The commit that a run starts from. */
async function baseOf({ project, wishes }: RunRequest, known: RunState | undefined): Promise<string> {
  return known?.base ?? project.repository.resolve(wishes.base ?? 'HEAD');
}

/** The run that is resumed; undefined when a new one may begin. */
async function knownRun({ project, graph, wishes }: RunRequest): Promise<RunState | undefined> {
  const { feature } = graph;
  const elsewhere = await runElsewhere(project, feature);
  if (elsewhere !== undefined) throw elsewhere;
  const known = await project.store(feature).read();
  if (known === undefined && wishes.resume === true)
    throw (await leftWork(project, feature)) ?? projectErrors.NOTHING_TO_RESUME({ feature });
  if (known === undefined) await checkNew(project, feature, wishes);
  else if (wishes.resume !== true) {
    const status = known.status === 'running' ? 'broken off' : known.status;
    throw projectErrors.RUN_EXISTS({ feature, status });
  }
  return known;
}

async function checkNew(project: Project, feature: string, { again }: RunWishes): Promise<void> {
  await checkNothingLeft(project, feature);
  const commit = again === true ? undefined : (await mergedFeatures(project.repository)).get(feature);
  if (commit !== undefined) throw projectErrors.FEATURE_MERGED({ feature, commit });
}

/** Refuses to overwrite work whose state is gone, and a branch below which git could make no other branch. */
async function checkNothingLeft(project: Project, feature: string): Promise<void> {
  const { integration } = branchNames(feature);
  const above = ['mahabharatha', `mahabharatha/${feature}`];
  const inTheWay = await Promise.all(above.map((branch) => project.repository.readRef(`refs/heads/${branch}`)));
  const branch = above.find((_, index) => inTheWay[index] !== undefined);
  if (branch !== undefined) throw gitErrors.BRANCH_BLOCKS_NAMESPACE({ branch, wanted: integration });
  const left = await leftWork(project, feature);
  if (left !== undefined) throw left;
}

interface Asked extends RunRequest, Pick<Settled, 'used'> {
  /** That of tasks which name none. */
  readonly agent: string;
}

function agentsOf(
  { config, graph, ...request }: RunRequest,
  known: RunState | undefined,
): Pick<Asked, 'agent' | 'used'> {
  const agent = agentOf({ config, graph, ...request }, known);
  // Also where every task has a command of its own.
  agentSpec(config, agent);
  return { agent, used: usedAgents(config, agent, graph) };
}

/** A resumed run takes the configuration of today, say mended gates, but keeps its number of workers, its agent, and caps of the command line. */
async function settle(asked: Asked, known: RunState | undefined, mode: ModeLine): Promise<Settled> {
  const { agent, ...request } = asked;
  const { config, wishes, used } = request;
  const settings = runSettings(config, {
    workers: wishes.workers ?? known?.settings.workers ?? config.workers.count,
    mode: mode.name,
    modeByAuto: mode.wished === 'auto',
    agent,
    caps: chooseCaps(wishes, known?.settings.caps, config.limits),
  });
  checkCaps(settings.caps, used);
  // A resumed run keeps its base, whatever is committed.
  const uncommitted = known === undefined ? await request.project.repository.uncommitted() : [];
  const idle = known !== undefined && (await isIdle(request.project, known)) ? [noTries(known)] : [];
  const warnings = [
    ...request.warnings,
    ...uncommittedNotes(uncommitted, config.workers),
    ...containerOnlyNotes(config, mode),
    ...idle,
  ];
  return { ...request, warnings, settings };
}

/** Whether a resume has nothing to do. What the run was asked at its very end is still to be answered. */
async function isIdle({ store }: Project, known: RunState): Promise<boolean> {
  if (!needsRetry(known)) return false;
  const requests = await store(known.feature).requests();
  return requests.every(({ task = '' }) => known.tasks[task]?.status !== 'failed');
}

const noTries = ({ feature }: RunState): string =>
  `No task that is left has tries left, so nothing will be done. New tries: mahabharatha retry --feature ${feature}`;

function shortageNotes({ graph, config, settings }: Settled, mode: Mode): string[] {
  if (mode.name === 'subprocess') return [];
  const atOnce = Math.min(settings.workers, Math.max(...graph.levels.map((level) => tasksAt(graph, level).length)));
  return shortages(atOnce, config.workers.container, mode.info).map(({ found, remedy }) => `${found}. ${remedy}`);
}
