import path from 'node:path';
import { parseDollars, parseDuration } from '../../config/index.ts';
import type { Config } from '../../config/index.ts';
import { libErrors, printable, printableLines } from '../../lib/index.ts';
import type { AppError } from '../../lib/index.ts';
import {
  configOf,
  findGraph,
  openProject,
  previewRun,
  readSettings,
  runFeature,
  trustNotes,
} from '../../project/index.ts';
import type { LoadedGraph, Project, RunFace, RunWishes } from '../../project/index.ts';
import { formatMermaid } from '../../tasks/index.ts';
import { askTrust } from '../ask-trust.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { kurukshetra } from '../commands/kurukshetra.ts';
import { featureFor } from '../feature-for.ts';
import { plainView } from '../render/build-view.ts';
import { formOf } from '../form.ts';
import { createRenderer } from '../render/create-renderer.ts';
import { hookTeller } from '../render/hook-line.ts';
import { credentialsText, modeTeller } from '../render/mode-line.ts';
import { waitingText } from '../render/waiting-line.ts';
import { showPlan } from './show-plan.ts';

interface Manner {
  readonly json: boolean;
  readonly trustConfig: boolean;
  /** A dry run draws the graph, and nothing else. */
  readonly mermaid?: boolean;
}

/** `kurukshetra`: from the command line to a merged branch. */
export async function buildFeature(input: InputOf<typeof kurukshetra>, context: CliContext): Promise<number> {
  const form = formOf(input);
  if (input.format !== undefined && !input.dryRun)
    throw usage('--format is for --dry-run.', 'A run prints events with --json.');
  return build(readWishes(input, context), { ...input, json: form === 'json', mermaid: form === 'mermaid' }, context);
}

export async function build(
  wishes: RunWishes,
  { json, trustConfig, mermaid }: Manner,
  context: CliContext,
): Promise<number> {
  const project = await openProject(context);
  const settings = await readSettings(project, context, wishes.mode);
  const config = configOf(project, settings);
  const request = { project, config, wishes, ...(await graphFor(project, { wishes, config }, context)) };
  const face = faceOf(context, json);
  if (wishes.dryRun === true) {
    if (mermaid === true) {
      context.out(printableLines(formatMermaid(request.graph).map(printable)));
      return 0;
    }
    const preview = await previewRun(request, context, face);
    const notes = [...trustNotes(settings), ...preview.warnings];
    showPlan(preview, notes, json ? undefined : face.mode, context);
    return 0;
  }
  await askTrust(project, settings, trustConfig, context);
  return (await runFeature(request, context, face)).exit;
}

async function graphFor(
  project: Project,
  { wishes, config }: { readonly wishes: RunWishes; readonly config: Config },
  context: CliContext,
): Promise<LoadedGraph> {
  const { ownership } = config;
  if (wishes.graphFile !== undefined) return findGraph(project, wishes, ownership);
  const use = wishes.resume === true ? 'see' : 'start';
  const feature = await featureFor(project, wishes.feature, use, context);
  return findGraph(project, { ...wishes, feature }, ownership);
}

/** Checks and converts the options. */
function readWishes(input: InputOf<typeof kurukshetra>, { cwd }: CliContext): RunWishes {
  const { maxTime, workers } = input;
  const graphFile = input.graphFile === undefined ? undefined : path.resolve(cwd, input.graphFile);
  const maxMs = maxTime === undefined ? undefined : parseDuration(maxTime);
  if (maxTime !== undefined && maxMs === undefined)
    throw usage(`--max-time ${maxTime} is not a duration.`, 'Use seconds (5400), or a text such as 90m or 2h.');
  if (input.resume && input.base !== undefined) {
    throw usage(
      '--resume and --base do not go together.',
      'A resumed run keeps its base; for another one: mahabharatha cleanup, then start anew.',
    );
  }
  const count = workers === undefined ? undefined : Number(workers);
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > 64)) {
    throw usage(`--workers ${workers} is not a number of workers.`, 'Use a whole number from 1 to 64.');
  }
  const maxCost = readDollars('--max-cost', input.maxCost);
  const maxTaskCost = readDollars('--max-task-cost', input.maxTaskCost);
  return { ...input, graphFile, workers: count, maxMs, maxCost, maxTaskCost };
}

function readDollars(option: string, text: string | undefined): number | undefined {
  const amount = text === undefined ? undefined : parseDollars(text);
  if (text !== undefined && amount === undefined)
    throw usage(`${option} ${text} is not an amount.`, 'Use US dollars, at least 0.01: 5, or 2.50.');
  return amount;
}

function usage(problem: string, hint: string): AppError {
  return libErrors.USAGE({ problem, hint });
}

function faceOf(context: CliContext, json: boolean): RunFace {
  return {
    mode: modeTeller(context, json),
    credentials: (way) => context.out(credentialsText(way, json)),
    // On stderr, because stdout is for events of the run.
    build: plainView({ ...context, out: context.err, terminal: false }),
    waiting: (until) => context.out(waitingText(until, json)),
    hook: hookTeller(context, json),
    open: createRenderer(context, json),
  };
}
