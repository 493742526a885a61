import { monitorEventLoopDelay } from 'node:perf_hooks';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600];
/** How often the loop's delay is sampled. */
const SAMPLE_MS = 20;
const NS = 1e9;

export type Outcome = 'ok' | 'failed' | 'timeout' | 'killed' | 'out_of_memory' | 'refused' | 'error';

type Labels = Readonly<Record<string, string>>;
export interface Sample {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly values: readonly (readonly [labels: Labels, value: number])[];
}

interface Spread {
  readonly counts: number[];
  sum: number;
  total: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Figures since the start of the server, as Prometheus reads them. Labels have values that the configuration bounds. */
export function createMetrics() {
  const outcomes = new Map<string, number>();
  const durations = new Map<string, Spread>();
  const requests = new Map<string, number>();
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  delay.enable();
  const startedAt = Date.now() / 1000 - process.uptime();
  return {
    executed: (kind: string, outcome: Outcome, ms: number): void => {
      increase(outcomes, textOf({ kind, outcome }));
      add(durations, kind, ms / 1000);
    },
    answered: (status: number): void => increase(requests, textOf({ status: `${Math.floor(status / 100)}xx` })),
    /** `now`: what is counted when it is asked for. */
    text: (now: readonly Sample[]): string => {
      const lines = [
        ...now.flatMap(linesOf),
        ...counted('mahabharatha_requests_total', 'Answered requests, by status.', requests),
        ...counted('mahabharatha_executions_total', 'Ended commands and programs, by kind and outcome.', outcomes),
        ...spread('mahabharatha_execution_seconds', 'How long commands and programs took.', durations),
        ...processSamples(startedAt, delay).flatMap(linesOf),
      ];
      delay.reset();
      return `${lines.join('\n')}\n`;
    },
    close: (): void => void delay.disable(),
  };
}

/** One number that goes up and down. */
export const gauge = (name: string, help: string, values: number | Sample['values']): Sample => ({
  name,
  help,
  type: 'gauge',
  values: typeof values === 'number' ? [[{}, values]] : values,
});

function processSamples(startedAt: number, delay: ReturnType<typeof monitorEventLoopDelay>): readonly Sample[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const lag = [0.5, 0.99].map(
    (quantile) => [{ quantile: String(quantile) }, delay.percentile(quantile * 100) / NS] as const,
  );
  return [
    { name: 'mahabharatha_event_loop_delay_seconds', help: 'Since the last look.', type: 'gauge', values: lag },
    gauge('process_resident_memory_bytes', 'Memory of the server.', rss),
    gauge('process_heap_bytes', 'Of it, what JavaScript uses.', heapUsed),
    gauge('process_start_time_seconds', 'Since 1970.', startedAt),
    {
      name: 'process_cpu_seconds_total',
      help: 'Of the server.',
      type: 'counter',
      values: [[{}, (user + system) / 1e6]],
    },
  ];
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function add(durations: Map<string, Spread>, kind: string, seconds: number): void {
  const of = durations.get(kind) ?? { counts: BUCKETS.map(() => 0), sum: 0, total: 0 };
  durations.set(kind, of);
  of.sum += seconds;
  of.total += 1;
  BUCKETS.forEach((limit, index) => {
    if (seconds <= limit) of.counts[index] = (of.counts[index] ?? 0) + 1;
  });
}

const head = (name: string, help: string, type: string): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
];

function textOf(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\"\n]/g, '_')}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

const linesOf = ({ name, help, type, values }: Sample): string[] => [
  ...head(name, help, type),
  ...values.map(([labels, value]) => `${name}${textOf(labels)} ${value}`),
];

const counted = (name: string, help: string, counts: ReadonlyMap<string, number>): string[] => [
  ...head(name, help, 'counter'),
  ...[...counts].map(([labels, value]) => `${name}${labels} ${value}`),
];

function spread(name: string, help: string, durations: ReadonlyMap<string, Spread>): string[] {
  const lines = [...durations].flatMap(([kind, { counts, sum, total }]) => [
    ...BUCKETS.map((limit, index) => `${name}_bucket${textOf({ kind, le: String(limit) })} ${counts[index]}`),
    `${name}_bucket${textOf({ kind, le: '+Inf' })} ${total}`,
    `${name}_sum${textOf({ kind })} ${sum}`,
    `${name}_count${textOf({ kind })} ${total}`,
  ]);
  return [...head(name, help, 'histogram'), ...lines];
}
