import { listed } from '../lib/text/words.ts';
import { numberCount, placeOf } from '../protocol/index.ts';
import type { RecordedEvent, RunSettings } from '../state/index.ts';

/** What a worker did for a while. Times are in milliseconds since 1970. */
export interface Span {
  readonly kind: 'work' | 'verification' | 'gates' | 'set-up';
  /** The task, the level or the commit that it was about. */
  readonly of: string;
  /** Of a task; null for all else. */
  readonly attempt: number | null;
  readonly from: number;
  readonly to: number;
  /** `open`: the run stopped before its end. */
  readonly end: 'good' | 'bad' | 'open';
  readonly detail: string;
}

export interface Lane {
  /** "worker 0", "worker 0, 4" where two numbers take turns, or "set-up" for checkouts that workers start from. */
  readonly name: string;
  readonly spans: readonly Span[];
}

/** A time in which an orchestrator drove the run. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

export interface Timeline {
  readonly periods: readonly Period[];
  readonly lanes: readonly Lane[];
}

const SETUP_LANE = 'set-up';

/** What an event changes. Spans that are open are known by a key. */
type Change =
  | { readonly kind: 'run-begins'; readonly settings: RunSettings }
  | { readonly kind: 'run-rests' }
  | {
      readonly kind: 'begin';
      readonly key: string;
      /** Null: of none. */
      readonly worker: number | null;
      readonly span: Pick<Span, 'kind' | 'of' | 'attempt'>;
    }
  | {
      readonly kind: 'end';
      readonly key: string;
      readonly end: 'good' | 'bad';
      readonly detail: string;
      readonly next?: Span['kind'];
    };

type EventOf<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { type: Type }>;

const CHANGES: { readonly [Type in RecordedEvent['type']]?: (event: EventOf<Type>) => Change } = {
  'run-started': ({ settings }) => ({ kind: 'run-begins', settings }),
  'run-resumed': ({ settings }) => ({ kind: 'run-begins', settings }),
  'run-finished': () => ({ kind: 'run-rests' }),
  'attempt-started': ({ task, attempt, worker }) => begin(`task ${task}`, worker, { kind: 'work', of: task, attempt }),
  // The same worker goes on, unless another one is to verify the commit.
  'attempt-verifying': ({ task, work }) =>
    work === undefined
      ? { ...end(`task ${task}`, 'good', 'done, to be verified'), next: 'verification' }
      : end(`task ${task}`, 'good', work.detail),
  'verification-started': ({ task, attempt, worker }) =>
    begin(`task ${task}`, worker, { kind: 'verification', of: task, attempt }),
  'verification-lost': ({ task, cause }) => end(`task ${task}`, 'bad', cause),
  'attempt-accepted': ({ task, detail }) => end(`task ${task}`, 'good', detail),
  'attempt-failed': ({ task, outcome, detail }) => end(`task ${task}`, 'bad', `${outcome}: ${detail}`),
  'gates-started': ({ level, worker }) =>
    begin('gates', worker, { kind: 'gates', of: `level ${level}`, attempt: null }),
  'gates-passed': () => end('gates', 'good', 'green'),
  'gates-failed': ({ gates }) =>
    end('gates', 'bad', `red: ${listed(gates.flatMap(({ name, ok }) => (ok ? [] : [name])))}`),
  'gates-lost': ({ cause }) => end('gates', 'bad', cause),
  'snapshot-begun': ({ commit }) => ({
    kind: 'begin',
    key: 'snapshot',
    worker: null,
    span: { kind: 'set-up', of: commit.slice(0, 10), attempt: null },
  }),
  'snapshot-made': () => end('snapshot', 'good', 'ready'),
};

type Begin = Extract<Change, { kind: 'begin' }>;
type End = Extract<Change, { kind: 'end' }>;

const begin = (key: string, worker: number, span: Begin['span']): Begin => ({
  kind: 'begin',
  key,
  worker,
  span,
});
const end = (key: string, how: End['end'], detail: string): End => ({ kind: 'end', key, end: how, detail });

/** Pure. `until`: when the run ended or was last seen at work; now, for a live one. */
export function timelineOf(events: readonly RecordedEvent[], until: number): Timeline {
  const lanes = createLanes();
  const periods: Period[] = [];
  let begun: number | undefined;
  let last = 0;
  let settings: RunSettings | undefined;
  const rest = (at: number): void => {
    lanes.breakOff(at);
    if (begun !== undefined) periods.push({ from: begun, to: Math.max(begun, at) });
    begun = undefined;
  };
  for (const event of events) {
    const change = changeOf(event);
    const at = Date.parse(event.at);
    if (change?.kind === 'run-begins') {
      // An orchestrator that was killed has not said that it ended.
      rest(last);
      begun = at;
      settings = change.settings;
    } else if (change?.kind === 'run-rests') rest(at);
    else if (change?.kind === 'begin') lanes.begin(change, laneOf(settings, change.worker), at);
    else if (change !== undefined) lanes.end(change, at);
    last = at;
  }
  rest(Math.max(last, until));
  return { periods, lanes: lanes.sorted() };
}

function laneOf(settings: RunSettings | undefined, worker: number | null): string {
  if (worker === null) return SETUP_LANE;
  if (settings === undefined) return `worker ${worker}`;
  const place = placeOf(settings, worker);
  const other = place + settings.workers;
  return other < numberCount(settings) ? `worker ${place}, ${other}` : `worker ${place}`;
}

function changeOf<Type extends RecordedEvent['type']>(event: EventOf<Type>): Change | undefined {
  return CHANGES[event.type]?.(event);
}

interface Open {
  readonly lane: string;
  readonly span: Begin['span'] & { readonly from: number };
}

function createLanes() {
  const lanes = new Map<string, Span[]>();
  const open = new Map<string, Open>();
  const finish = (key: string, at: number, how: Span['end'], detail: string): Open | undefined => {
    const known = open.get(key);
    if (known === undefined) return undefined;
    open.delete(key);
    const span = { ...known.span, to: Math.max(at, known.span.from), end: how, detail };
    lanes.set(known.lane, [...(lanes.get(known.lane) ?? []), span]);
    return known;
  };
  return {
    begin: ({ key, span }: Begin, lane: string, at: number): void =>
      void open.set(key, { lane, span: { ...span, from: at } }),
    end: (change: End, at: number): void => {
      const known = finish(change.key, at, change.end, change.detail);
      if (known === undefined || change.next === undefined) return;
      open.set(change.key, { lane: known.lane, span: { ...known.span, kind: change.next, from: at } });
    },
    breakOff: (at: number): void => {
      for (const key of open.keys()) finish(key, at, 'open', 'broken off');
    },
    sorted: (): Lane[] => {
      const sorted = [...lanes].toSorted(([one], [other]) => one.localeCompare(other, 'en', { numeric: true }));
      return sorted.map(([name, spans]) => ({ name, spans }));
    },
  };
}
