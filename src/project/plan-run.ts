import { gitErrors } from '../git/errors.ts';
import { branchNames } from '../protocol/index.ts';
import type { RunSettings, RunState } from '../state/index.ts';
import { tasksAt } from '../tasks/index.ts';
import { checkCaps, chooseCaps } from './caps.ts';
import { checkAgents } from './check-agent.ts';
import { agentOf, chooseMode } from './choose-mode.ts';
import type { Mode } from './decide-mode.ts';
import { projectErrors } from './errors.ts';
import { leftWork } from './left-work.ts';
import { placeWorkers } from './project.ts';
import type { Project } from './project.ts';
import { agentSpec, usedAgents } from './run-agents.ts';
import type { UsedAgent } from './run-agents.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunRequest } from './run-request.ts';
import { uncommittedNotes } from './uncommitted-notes.ts';
import type { Workers } from './run-workers.ts';
import { shortages } from './shortages.ts';
import { checkWorkers, runSettings, wireWorkers } from './wire.ts';

/** What a dry run shows. */
export interface RunPreview extends RunRequest {
  readonly mode: Mode;
  readonly settings: RunSettings;
  /** The agents that its tasks ask. */
  readonly used: readonly UsedAgent[];
}

/** What a run starts with. */
export interface RunPlan extends RunPreview {
  /** The run that is resumed. */
  readonly known: RunState | undefined;
  readonly workers: Workers;
  readonly base: string;
}

/** What a run would do, with the same errors; starts and builds nothing. */
export async function previewRun(asked: RunRequest, host: RunHost, face: RunFace): Promise<RunPreview> {
  const project = await placeWorkers(asked.project, asked.config, host.env);
  const request = { ...asked, project };
  const { wishes } = asked;
  // An ended run is no hindrance: a dry run may show the plan of the next one.
  const known = wishes.resume === true ? await knownRun(request) : undefined;
  await baseOf(request, known);
  const preview = await chooseAll(request, known, host, face);
  return { ...preview, warnings: [...preview.warnings, ...(await checkWorkers({ ...preview, env: host.env }))] };
}

/**
 * All that a run starts with. Errors of a start are thrown here, before anything but images is changed. The caller holds
 * the feature's lock, so what the plan is made from stays as it is.
 */
export async function planRun(request: RunRequest, host: RunHost, face: RunFace): Promise<RunPlan> {
  const known = await knownRun(request);
  const preview = await chooseAll(request, known, host, face);
  const workers = await wireWorkers({ ...preview, env: host.env });
  await checkAgents(preview.used, workers.place, host.env);
  return { ...preview, known, workers, base: await baseOf(request, known) };
}

/** The commit that a run starts from. */
async function baseOf({ project, wishes }: RunRequest, known: RunState | undefined): Promise<string> {
  return known?.base ?? project.repository.resolve(wishes.base ?? 'HEAD');
}

/** The run that is resumed; undefined when a new one may begin. */
async function knownRun({ project, graph, wishes }: RunRequest): Promise<RunState | undefined> {
  const { feature } = graph;
  const known = await project.store(feature).read();
  if (known === undefined && wishes.resume === true)
    throw (await leftWork(project, feature)) ?? projectErrors.NOTHING_TO_RESUME({ feature });
  if (known === undefined) await checkNothingLeft(project, feature);
  else if (wishes.resume !== true) {
    const status = known.status === 'running' ? 'broken off' : known.status;
    throw projectErrors.RUN_EXISTS({ feature, status });
  }
  return known;
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

/** A resumed run takes the configuration of today, say mended gates, but keeps its number of workers, its agent, and caps of the command line. */
async function chooseAll(
  request: RunRequest,
  known: RunState | undefined,
  host: RunHost,
  face: RunFace,
): Promise<RunPreview> {
  const { config, graph, wishes } = request;
  const agent = agentOf(request, known);
  // Also where every task has a command of its own.
  agentSpec(config, agent);
  const used = usedAgents(config, agent, graph);
  const mode = await chooseMode({ ...request, used }, known, host, face);
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
  const warnings = [
    ...request.warnings,
    ...uncommittedNotes(uncommitted, config.workers),
    ...shortageNotes(request, mode, settings),
  ];
  return { ...request, warnings, mode, settings, used };
}

function shortageNotes({ graph, config }: RunRequest, mode: Mode, { workers }: RunSettings): string[] {
  if (mode.name === 'subprocess') return [];
  const atOnce = Math.min(workers, Math.max(...graph.levels.map((level) => tasksAt(graph, level).length)));
  return shortages(atOnce, config.workers.container, mode.info).map(({ found, remedy }) => `${found}. ${remedy}`);
}
