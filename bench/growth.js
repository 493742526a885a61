import { formatSpread, interleave, median, ratios, summarize } from './measure.js';
import { buildOnce } from './temp-feature.js';

const AIM = 1.2;
const TURNS = 200;

const command = (file) => `echo x > ${file}`;

/** Does a task of a long run cost more than one of a short run? Tasks that cost nothing, all in one level. */
export async function measureGrowth({ quick }) {
  const [few, many] = quick ? [50, 500] : [100, 3000];
  const left = [];
  const run = async (count) => {
    const { totalMs, events } = await buildOnce({ count, command });
    if (count === many) left.push(mergesLeft(events));
    return totalMs / count;
  };
  const contestants = { few: () => meanOf(quick ? 2 : 4, () => run(few)), many: () => run(many) };
  const costs = await interleave(contestants, quick ? 1 : 2);
  const turn = await timeTurn(10_000);
  const ratio = summarize(ratios(costs.many, costs.few));
  return {
    title: `Growth: a task that costs nothing, ${few} against ${many} in one level, on 4 workers`,
    rows: [
      [`a task of ${few}`, formatSpread(summarize(costs.few), ' ms', 1)],
      [`a task of ${many}`, formatSpread(summarize(costs.many), ' ms', 1)],
      ['ratio', formatSpread(ratio, '', 2)],
      [`merges left when the last of ${many} tasks is accepted`, `${Math.max(...left)}`],
      ['one turn of decide with 10,000 tasks, half of them merged', `${turn.toFixed(2)} ms`],
    ],
    aims: [{ what: `a task of ${many} against one of ${few}`, value: ratio.median, limit: AIM }],
    raw: { costs, left, turn },
  };
}

/** A short run has as much to say as a long one only when it is made more often. */
async function meanOf(times, measure) {
  let sum = 0;
  for (let time = 0; time < times; time++) sum += await measure();
  return sum / times;
}

function mergesLeft(events) {
  const last = events.findLastIndex(({ type }) => type === 'attempt-accepted');
  return events.slice(last).filter(({ type }) => type === 'task-merged').length;
}

/** The decision of a run in its middle, in which nothing is to be done. */
async function timeTurn(count) {
  const { decide } = await import('../dist/orchestrator/decide.js');
  const snapshot = await midRun(count);
  const times = Array.from({ length: TURNS }, () => {
    const started = performance.now();
    if (decide(snapshot).length > 0) throw new Error('a turn without news has decided something');
    return performance.now() - started;
  });
  return median(times);
}

async function midRun(count) {
  const { parseGraph } = await import('../dist/tasks/index.js');
  const { firstState } = await import('../dist/orchestrator/first-state.js');
  const { replay } = await import('../dist/orchestrator/reduce.js');
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `T${index}`, files: { create: [`${index}.txt`] } }));
  const { graph } = parseGraph({ feature: 'bench', tasks });
  const [commit, at] = ['f'.repeat(40), new Date().toISOString()];
  const settings = { workers: 1, mode: 'subprocess', agent: 'claude', ownership: 'enforce', gates: [] };
  const first = firstState(graph, { settings, base: commit, integration: 'bench', runId: 'bench', now: at });
  const facts = {
    at,
    worker: 0,
    attempt: 1,
    base: 'e'.repeat(40),
    commit,
    detail: '',
    usage: null,
    level: 1,
    tip: commit,
  };
  const done = graph.tasks.slice(0, count / 2).flatMap(({ id: task }) => [
    { type: 'attempt-started', ...facts, task },
    { type: 'attempt-accepted', ...facts, task },
    { type: 'task-merged', ...facts, task },
  ]);
  const task = `T${count - 1}`;
  const state = replay(first, [
    { type: 'worker-starting', ...facts, session: 's' },
    { type: 'worker-phase', ...facts, phase: 'busy' },
    { type: 'level-started', ...facts },
    ...done,
    { type: 'attempt-started', ...facts, task },
  ]);
  const busy = { alive: true, phase: 'running', attempt: `${task}.1`, silentMs: 0, result: null, setupFailure: null };
  const workers = new Map([[0, { ...busy, unreadable: null, trouble: null, pastSetup: true }]]);
  const policy = { attempts: 3, losses: 5, backoffMs: 1000, silentMs: 60_000, startFailures: 3, setup: false };
  return { now: 0, state, graph, policy, workers, merging: false, waits: new Map(), retries: [], stop: null };
}
