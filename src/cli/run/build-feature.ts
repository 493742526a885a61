import {
  configOf,
  findGraph,
  openProject,
  prepareRun,
  readSettings,
  runFeature,
  trustNotes,
} from '../../project/index.ts';
import type { RunFace } from '../../project/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, CommandInput } from '../command.ts';
import { plainView } from '../render/build-view.ts';
import { createRenderer } from '../render/create-renderer.ts';
import { modeTeller } from '../render/mode-line.ts';
import { readWishes } from './build-wishes.ts';
import { showPlan } from './show-plan.ts';

/** `kurukshetra`: from the command line to a merged branch. */
export async function build(input: CommandInput, context: CliContext): Promise<number> {
  const { trustConfig, json, ...wishes } = readWishes(input);
  const project = await openProject(context);
  const settings = await readSettings(project, context);
  const config = configOf(project, settings);
  const loaded = await findGraph(project, wishes);
  if (!wishes.dryRun) await askTrust(project, settings, trustConfig, context);
  const face = faceOf(context, json);
  const prepared = await prepareRun({ project, config, loaded, wishes }, context, face);
  if (!wishes.dryRun) return (await runFeature(prepared, context, face)).exit;
  const notes = [...trustNotes(settings), ...prepared.notes];
  return showPlan({ ...prepared, notes }, { json, tell: face.mode }, context);
}

function faceOf(context: CliContext, json: boolean): RunFace {
  return {
    mode: modeTeller(context, json),
    // Said on stderr, since stdout is the run's.
    build: plainView({ ...context, out: context.err, terminal: false }),
    open: (graph) => createRenderer({ context, graph, json }),
  };
}
