import { inDuration } from '../lib/text/amounts.ts';
import { axisOf } from './axis.ts';
import type { Axis } from './axis.ts';
import { el } from './html-text.ts';
import type { Html } from './html-text.ts';
import type { Lane, Span, Timeline } from './timeline.ts';

/** So wide a span is on average, that it can be told from its neighbours; the page scrolls within these bounds. */
const SPAN_PX = 28;
const LEAST_PX = 640;
const MOST_PX = 12_000;
/** The text of a later tick would be cut off. */
const LAST_TICK = 0.88;

/** Pure. One row for each place of workers; nothing where the log of events is not whole. */
export function timelineHtml(timeline: Timeline): Html[] {
  const { lanes } = timeline;
  if (lanes.length === 0) return [];
  const axis = axisOf(timeline);
  const most = Math.max(...lanes.map(({ spans }) => spans.length));
  const width = Math.min(MOST_PX, Math.max(LEAST_PX, most * SPAN_PX));
  const rows = [el('div', { class: 'row ticks' }, [el('div', { class: 'name' }, ['']), ticksHtml(axis)])];
  const prefix = commonPrefix(lanes.flatMap(({ spans }) => spans));
  const lines = lanes.map((lane) =>
    el('div', { class: 'row' }, [el('div', { class: 'name' }, [lane.name]), laneHtml(lane, axis, prefix)]),
  );
  return [
    el('section', {}, [
      el('h2', {}, ['Time line']),
      legend(),
      el('div', { class: 'wide' }, [
        el('div', { class: 'timeline', style: `min-width: ${width}px` }, [...rows, ...lines]),
      ]),
    ]),
  ];
}

const legend = (): Html =>
  el('p', { class: 'legend' }, [
    ...['work', 'verification', 'gates', 'set-up'].map((kind) => legendItem(kind, kind)),
    legendItem('work bad', 'failed'),
  ]);

const legendItem = (looks: string, name: string): Html => el('span', {}, [el('i', { class: looks }, ['']), ` ${name}`]);

function ticksHtml({ ticks, breaks }: Axis): Html {
  const marks = ticks
    .filter(({ at }) => at < LAST_TICK)
    .map(({ ms, at }) => el('span', { style: `left: ${percent(at)}` }, [inDuration(ms)]));
  const pauses = breaks.map((at) => el('span', { class: 'pause', style: `left: ${percent(at)}` }, ['paused']));
  return el('div', { class: 'track' }, [...marks, ...pauses]);
}

function laneHtml({ spans }: Lane, axis: Axis, prefix: string): Html {
  const pauses = axis.breaks.map((at) => el('div', { class: 'pause', style: `left: ${percent(at)}` }, ['']));
  return el('div', { class: 'track' }, [...pauses, ...spans.map((span) => spanHtml(span, axis, prefix))]);
}

function spanHtml(span: Span, { position }: Axis, prefix: string): Html {
  const { kind, of, attempt, from, to, end, detail } = span;
  const [left, right] = [position(from), position(to)];
  const again = attempt === null || attempt === 1 ? '' : ` (${attempt})`;
  const about = `${kind} of ${of}${again}, ${inDuration(to - from)}: ${detail}`;
  const label = of.startsWith(prefix) ? of.slice(prefix.length) : of;
  return el(
    'div',
    { class: `span ${kind} ${end}`, style: `left: ${percent(left)}; width: ${percent(right - left)}`, title: about },
    // A verification follows the work that it is about.
    [kind === 'verification' ? '' : `${label}${again}`],
  );
}

/** What all tasks begin with, up to a dash: there is no room for it. */
function commonPrefix(spans: readonly Span[]): string {
  const tasks = [...new Set(spans.flatMap(({ of, attempt }) => (attempt === null ? [] : [of])))];
  const [first = ''] = tasks;
  const parts = first.split('-').map((_, index, all) => `${all.slice(0, index).join('-')}-`);
  return parts.findLast((prefix) => tasks.length > 1 && tasks.every((task) => task.startsWith(prefix))) ?? '';
}

const percent = (part: number): string => `${(part * 100).toFixed(3)}%`;
