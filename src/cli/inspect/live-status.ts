import { lastLines } from '../../logs/index.ts';
import { lookAtWork } from '../../project/index.ts';
import type { StatusView } from '../../project/index.ts';
import type { StateStore } from '../../state/index.ts';
import type { Colors } from '../render/colors.ts';
import { isShown, liveView, MOST_EVENTS } from '../render/live-view.ts';
import type { ViewFacts } from '../render/live-view.ts';
import type { Screen } from '../screen.ts';
import { readEvent } from './log-sources.ts';

const HINT = 'Ctrl-C ends this view; the run goes on';

/** `status --watch` on the whole screen: as the run itself shows it. */
export function liveStatus(store: StateStore, screen: Screen, colors: Colors) {
  let seen: Pick<ViewFacts, 'state' | 'work' | 'events'>;
  return {
    show: async (state: StatusView): Promise<void> => {
      const [work, { lines }] = await Promise.all([
        lookAtWork(store, state),
        lastLines(store.paths.events, MOST_EVENTS, isShownLine),
      ]);
      seen = { state, work, events: lines.flatMap((line) => readEvent(line) ?? []) };
      if (screen.isOpen) screen.draw();
      else screen.open((size) => liveView({ ...seen, now: Date.now(), hint: [HINT, colors.dim] }, size, colors));
    },
    close: screen.close,
  };
}

function isShownLine(text: string): boolean {
  const event = readEvent(text);
  return event !== undefined && isShown(event);
}
