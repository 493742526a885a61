import { hasCode, line, printableJson, printableLines, sleep } from '../../lib/index.ts';
import { projectErrors } from '../../project/errors.ts';
import { openProject, viewStatus } from '../../project/index.ts';
import type { Project, StatusView } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { status } from '../commands/status.ts';
import { featureFor } from '../feature-for.ts';
import { showPlanning } from '../planning/show-planning.ts';
import { colorsFor } from '../render/colors.ts';
import { endView } from '../render/end-view.ts';
import { formatStatus, headline } from '../render/status.ts';
import { liveStatus } from './live-status.ts';

const WATCH_MS = 1000;

/** `status`: exit 0 whatever the state of the run is, and that of the signal when watching was interrupted. */
export async function showStatus(input: InputOf<typeof status>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const view = await viewStatus(project, feature, context.env).catch(async (error: unknown) => {
    // Before its first run a feature may be planned.
    if (hasCode(error, projectErrors.NO_RUN) && (await showPlanning(project, feature, input, context)))
      return undefined;
    throw error;
  });
  if (view === undefined) return 0;
  const print = printer(context, input.json);
  if (input.watch) return watch(project, view, print, input.json ? { ...context, screen: undefined } : context);
  print(view);
  return 0;
}

/** Until the run is over: its end is printed in full, on a terminal as the run itself prints it. */
async function watch(
  project: Project,
  first: StatusView,
  print: (view: StatusView) => void,
  { out, screen, color, env, interrupted }: CliContext,
): Promise<number> {
  const colors = colorsFor(color);
  const live = screen && liveStatus(project.store(first.feature), screen, colors);
  let view = first;
  try {
    while (view.status === 'running' && !interrupted.aborted) {
      if (live === undefined) print(view);
      else await live.show(view);
      await sleep(WATCH_MS, interrupted);
      view = await viewStatus(project, first.feature, env);
    }
  } finally {
    live?.close();
  }
  if (interrupted.aborted) return Number(interrupted.reason);
  if (screen === undefined) print(view);
  else out(printableLines([...endView(view, screen.size().columns, colors), headline(view, Date.now(), colors)]));
  return 0;
}

function printer({ out, color }: CliContext, json: boolean): (view: StatusView) => void {
  if (json) return (view) => out(line`${printableJson({ type: 'status', ...view })}\n`);
  const colors = colorsFor(color);
  let last = '';
  return (view) => {
    const text = formatStatus(view, Date.now(), colors);
    // A log gets a new text only when something but ages has changed.
    const same = formatStatus(view, Date.parse(view.updatedAt), colors).toString();
    if (same !== last) out(text);
    last = same;
  };
}
