import { isThere } from '../lib/index.ts';
import { startProgram } from '../shells/index.ts';
import type { RunState } from '../state/index.ts';
import { chooseMode } from './choose-mode.ts';
import { projectErrors } from './errors.ts';
import { loadGraph } from './find-graph.ts';
import { openFresh } from './fresh-shell.ts';
import { readRun } from './left-work.ts';
import type { RunFace, RunHost } from './run-face.ts';
import { checkTarget, freshPlace, livePlace, worktreeOf } from './shell-place.ts';
import type { LivePlace } from './shell-place.ts';
import { wiredShell } from './shell-plan.ts';
import type { OpenShell, ShellPlan, ShellRequest } from './shell-plan.ts';

/** Opens a shell where a task is worked on now, or else on the commit of its last attempt. */
export async function openShell(
  asked: ShellRequest,
  host: RunHost,
  face: Pick<RunFace, 'mode' | 'build'>,
): Promise<OpenShell> {
  const { project, feature, target } = asked;
  const state = await readRun(project, feature);
  checkTarget(state, target);
  if (state.settings.mode !== 'container') throw await withoutContainer(state, target);
  const plan = planner(asked, state, host, face);
  const live = livePlace(state, target);
  // Nothing is built for a live container: its image is there.
  const opened = live === undefined ? undefined : await openLive(await plan({ dryRun: true }), live, host);
  if (opened !== undefined) return opened;
  const place = freshPlace(state, target);
  return openFresh(await plan({ dryRun: false }), place, host);
}

type Planner = (wish: { readonly dryRun: boolean }) => Promise<ShellPlan>;

function planner(asked: ShellRequest, state: RunState, host: RunHost, face: Pick<RunFace, 'mode' | 'build'>): Planner {
  const { project, config, feature } = asked;
  return async (wish) => {
    const loaded = await loadGraph(project.store(feature).paths.usedGraph, 'off');
    const wishes = { mode: 'container', ...wish };
    const mode = await chooseMode({ project, config, wishes, used: [], ...loaded }, undefined, host, face);
    if (mode.name !== 'container') throw await withoutContainer(state, asked.target);
    return { ...asked, graph: loaded.graph, state, mode };
  };
}

async function withoutContainer(state: RunState, target: string): Promise<Error> {
  const folder = worktreeOf(state, target) ?? '';
  const worktree = folder !== '' && (await isThere(folder)) ? folder : '';
  return projectErrors.SHELL_WITHOUT_CONTAINER({ feature: state.feature, worktree });
}

/** Undefined when that container has ended meanwhile. */
async function openLive(
  plan: ShellPlan,
  { containerId, worker, task }: LivePlace,
  host: RunHost,
): Promise<OpenShell | undefined> {
  const { engine } = plan.mode;
  if ((await engine.inspectContainer(containerId))?.status !== 'running') return undefined;
  const { lock } = plan.project.paths.feature(plan.feature);
  const { variables } = await wiredShell(plan, { lock }, host);
  const env = await variables(task);
  const on = task === null ? 'gates' : task;
  return {
    said: [`in the container of worker ${worker}, which works on ${on} now; it is over when that is`],
    start: (input) => startProgram(engine, containerId, env, input),
    killed: 'killed, as all in the container of an attempt is when its agent has ended',
    close: async () => undefined,
  };
}
