import { CLEAR_SCREEN, hasCode, line, printableJson, sleep } from '../../lib/index.ts';
import { projectErrors } from '../../project/errors.ts';
import { openProject, viewStatus } from '../../project/index.ts';
import type { StatusView } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { status } from '../commands/status.ts';
import { featureFor } from '../feature-for.ts';
import { colorsFor } from '../render/colors.ts';
import { showPlanning } from '../planning/show-planning.ts';
import { formatStatus } from '../render/status.ts';

const WATCH_MS = 1000;

/** `status`: exit 0 whatever the state of the run is. */
export async function showStatus(input: InputOf<typeof status>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const show = printer(context, input.json, input.watch);
  for (;;) {
    const view = await viewStatus(project, feature, context.env).catch(async (error: unknown) => {
      // Before its first run a feature may be planned.
      if (hasCode(error, projectErrors.NO_RUN) && (await showPlanning(project, feature, input, context)))
        return undefined;
      throw error;
    });
    if (view === undefined) return 0;
    show(view);
    if (!input.watch || view.status !== 'running' || context.interrupted.aborted) return 0;
    await sleep(WATCH_MS, context.interrupted);
  }
}

function printer(context: CliContext, json: boolean, watch: boolean): (view: StatusView) => void {
  if (json) return (view) => context.out(line`${printableJson(view, watch ? undefined : 2)}\n`);
  const colors = colorsFor(context.color);
  let last = '';
  return (view) => {
    const text = formatStatus(view, Date.now(), colors);
    if (watch && context.terminal) return context.out(line`${CLEAR_SCREEN}${text}`);
    // A log gets a new text only when something but ages has changed.
    const same = formatStatus(view, Date.parse(view.updatedAt), colors).toString();
    if (same !== last) context.out(text);
    last = same;
  };
}
