import { formatSpread, interleave, median, summarize, timed } from './measure.js';
import { countGit } from './git-count.js';
import { runProgram } from './program.js';
import { buildOnce } from './temp-feature.js';
import { timelineOf } from './timeline.js';

const GIT_STARTS = 40;

const command = (file) => `echo x > ${file}`;

/** What a task costs that costs nothing: all of it is ours. */
export async function measureTrivialTasks({ quick }) {
  const count = quick ? 60 : 300;
  const runs = [];
  const contestants = {
    ours: async () => {
      const run = await buildOnce({ count, command });
      runs.push(run);
      return run.totalMs / count;
    },
    git: async () => (await timed(startGit)) / GIT_STARTS,
  };
  const { ours, git } = await interleave(contestants, quick ? 2 : 5);
  const timelines = runs.map(timelineOf);
  const part = (name) => `${median(timelines.map((timeline) => timeline[name])).toFixed(1)} ms`;
  const processes = await countGit(command);
  return {
    title: `Cost of a trivial task: ${count} tasks of \`echo\` on 4 workers`,
    rows: [
      ['total / tasks', formatSpread(summarize(ours), ' ms', 1)],
      ['one bare git process (`git version`), for scale', formatSpread(summarize(git), ' ms', 1)],
      ['assigned to begun', part('pickUp')],
      ['begun to ended, in the worker', part('work')],
      ['ended to accepted', part('accept')],
      ['accepted to the next one assigned', part('nextAssignment')],
      ['last one accepted to exit', part('end')],
      ['git processes per task, orchestrator', describe(processes.orchestrator)],
      ['git processes per task, worker', describe(processes.worker)],
    ],
    aims: [],
    raw: { ours, git, timelines, processes },
  };
}

/** `git version` needs no repository: it is the price of a process and nothing else. */
async function startGit() {
  for (let start = 0; start < GIT_STARTS; start++) await runProgram('git', ['version']);
}

function describe(perTask) {
  const names = Object.keys(perTask).toSorted();
  const sum = Object.values(perTask).reduce((total, number) => total + number, 0);
  return `${sum} (${names.map((name) => (perTask[name] === 1 ? name : `${perTask[name]} × ${name}`)).join(', ')})`;
}
