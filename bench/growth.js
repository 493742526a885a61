import { formatSpread, interleave, ratios, summarize } from './measure.js';
import { buildOnce } from './temp-feature.js';
import { timeTurn } from './turn.js';

const AIM = 1.2;

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
