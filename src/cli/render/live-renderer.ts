import { line, printableLines, repeat, startTimer } from '../../lib/index.ts';
import type { Printable, Timer } from '../../lib/index.ts';
import type { RunListener, WorkByWorker } from '../../project/index.ts';
import type { RecordedEvent, RunState } from '../../state/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import type { Screen, Size } from '../screen.ts';
import type { Part } from './columns.ts';
import { colorsFor } from './colors.ts';
import { endView } from './end-view.ts';
import { isShown, liveView, MOST_EVENTS } from './live-view.ts';
import { formatSummary } from './summary.ts';

/** How often workers are looked at, and times go on. */
const LOOK_MS = 1000;
/** Events of this time are drawn together: there may be hundreds. */
const DRAW_MS = 100;

const HINT = 'Ctrl-C stops in order: what is done is kept';
const STOPPING = 'Stopping in order; Ctrl-C once more stops at once';

interface LiveRun {
  readonly graph: TaskGraph;
  readonly screen: Screen;
  /** What the workers do at the moment. */
  readonly look: (state: RunState) => Promise<WorkByWorker>;
}

/** The run on the whole screen while it goes on, for a person at a terminal; then its tasks, and the summary. */
export function liveRenderer(context: CliContext, { graph, screen, look }: LiveRun): RunListener {
  const colors = colorsFor(context.color);
  const notes: string[] = [];
  const canvas = createCanvas(context, screen, look);
  return {
    event: canvas.event,
    note: (text) => notes.push(text),
    close: async (end) => {
      canvas.close();
      for (const note of notes) context.err(colors.dim(line`note: ${note}\n`));
      const state = end?.state ?? canvas.state();
      if (state !== undefined) context.out(printableLines(endView(state, screen.size().columns, colors)));
      if (end !== undefined) context.out(line`\n${formatSummary(end, graph)}`);
    },
  };
}

function createCanvas({ color, interrupted }: CliContext, screen: Screen, look: LiveRun['look']) {
  const colors = colorsFor(color);
  let known: RunState | undefined;
  let work: WorkByWorker = new Map();
  let events: readonly RecordedEvent[] = [];

  const picture = (size: Size): readonly Printable[] => {
    if (known === undefined) return [];
    const hint: Part = interrupted.aborted ? [STOPPING, colors.yellow] : [HINT, colors.dim];
    return liveView({ state: known, work, events, now: Date.now(), hint }, size, colors);
  };
  const later = drawLater(screen);
  const lookAgain = async (): Promise<void> => {
    if (known !== undefined) work = await look(known);
    screen.draw();
  };
  const looking = repeat(LOOK_MS, lookAgain, () => undefined);
  // At once: a run that stops quickly may be over before what is drawn together is drawn.
  const answer = (): void => screen.draw();
  interrupted.addEventListener('abort', answer);
  return {
    state: () => known,
    event: (event: RecordedEvent, state: RunState): void => {
      const isFirst = known === undefined;
      known = state;
      if (isShown(event)) events = [...events, event].slice(-MOST_EVENTS);
      if (isFirst) screen.open(picture);
      else later.draw();
    },
    close: (): void => {
      looking.cancel();
      later.cancel();
      interrupted.removeEventListener('abort', answer);
      screen.close();
    },
  };
}

/** Draws what comes at the same time once. */
function drawLater(screen: Screen): { draw(this: void): void; cancel(): void } {
  let timer: Timer | undefined;
  return {
    draw: () => {
      timer ??= startTimer(DRAW_MS, () => {
        timer = undefined;
        screen.draw();
      });
    },
    cancel: () => timer?.cancel(),
  };
}
