import { gitErrors } from '../git/errors.ts';
import type { Environment } from '../lib/index.ts';
import type { AgentSpec } from '../protocol/index.ts';
import { branchNames } from '../protocol/index.ts';
import type { RunSettings, RunState } from '../state/index.ts';
import { checkAgent } from './check-agent.ts';
import { projectErrors } from './errors.ts';
import { leftWork } from './left-work.ts';
import type { Prepared } from './prepare-run.ts';
import type { Project } from './project.ts';
import { agentSpec } from './wire.ts';
import type { Workers } from './wire.ts';
import { wireWorkers } from './wire-workers.ts';

/** What a run starts with. */
export interface Start {
  /** The run that is resumed. */
  readonly known: RunState | undefined;
  readonly settings: RunSettings;
  readonly agent: AgentSpec;
  readonly workers: Workers;
  readonly base: string;
}

/** What is wrong with a start is said here, before anything is changed. The caller holds the feature's lock. */
export async function planStart(prepared: Prepared, env: Environment): Promise<Start> {
  const { project, graph, config, wishes } = prepared;
  const known = await project.store(graph.feature).read();
  if (known !== undefined && !wishes.resume) {
    throw projectErrors.RUN_EXISTS({
      feature: graph.feature,
      status: known.status === 'running' ? 'broken off' : known.status,
    });
  }
  if (known === undefined && wishes.resume)
    throw (await leftWork(project, graph.feature)) ?? projectErrors.NOTHING_TO_RESUME({ feature: graph.feature });
  const settings = known === undefined ? prepared.settings : resumedSettings(known, prepared);
  const agent = agentSpec(config, settings.agent);
  if (prepared.mode.name === 'subprocess' && graph.tasks.some((task) => task.run === null))
    await checkAgent(agent, graph, env);
  const workers = await wireWorkers({ ...prepared, agent, env });
  const base = known?.base ?? (await project.repository.resolve(wishes.base ?? 'HEAD'));
  if (known === undefined) await checkNothingLeft(project, graph.feature);
  return { known, settings, agent, workers, base };
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

/** Today's configuration counts (gates may have been mended); workers and agent stay unless they are named anew. */
function resumedSettings(known: RunState, { settings, wishes }: Prepared): RunSettings {
  return {
    ...settings,
    workers: wishes.workers ?? known.settings.workers,
    agent: wishes.agent ?? known.settings.agent,
  };
}
