import { formatSpread, interleave, median, ratios, summarize, timed } from './measure.js';
import { runProgram } from './program.js';
import { buildOnce, inTempFolder } from './temp-feature.js';
import { timelineOf } from './timeline.js';

const COUNT = 32;
const AIM = 1.15;

const command = (file) => `sleep 0.5; echo x > ${file}`;

/** How much longer a run takes than the bare parallel work in it. */
export async function measureMakespan({ quick }) {
  const runs = [];
  const contestants = {
    ours: async () => {
      const run = await buildOnce({ count: COUNT, command });
      runs.push(run);
      return run.totalMs;
    },
    xargs: () => inTempFolder((folder) => timed(() => runXargs(folder))),
  };
  const { ours, xargs } = await interleave(contestants, quick ? 2 : 7);
  const ratio = summarize(ratios(ours, xargs));
  const timelines = runs.map(timelineOf);
  const part = (name) => median(timelines.map((timeline) => timeline[name]));
  return {
    title: `Makespan: ${COUNT} tasks of 0.5 s on 4 workers`,
    rows: [
      ['mahabharatha', formatSpread(summarize(ours), ' ms')],
      ['xargs -P4', formatSpread(summarize(xargs), ' ms')],
      ['ratio', formatSpread(ratio, '', 3)],
      ['command line to first assignment', `${part('firstAssignment').toFixed(0)} ms`],
      ['assignment to begin, first task of a worker', `${part('workerReady').toFixed(0)} ms`],
      ['a task in its worker, above its 500 ms', `${(part('work') - 500).toFixed(0)} ms`],
      ['result to next begin, per task', `${(part('accept') + part('nextAssignment') + part('pickUp')).toFixed(0)} ms`],
      ['last task accepted to exit', `${part('end').toFixed(0)} ms`],
    ],
    aims: [{ what: 'makespan against xargs -P4', value: ratio.median, limit: AIM }],
    raw: { ours, xargs, timelines },
  };
}

function runXargs(folder) {
  const files = Array.from({ length: COUNT }, (_, index) => `file-${index}.txt`);
  const args = ['-P4', '-I{}', 'bash', '-c', command('{}')];
  return runProgram('xargs', args, { cwd: folder, input: files.join('\n') });
}
