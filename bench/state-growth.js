import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatSpread, interleave, ratios, summarize, timed } from './measure.js';
import { buildFeature, inTempFolder, makeFeature } from './temp-feature.js';

const TASKS = 20;
const HISTORIES = [100, 1000, 10_000];
const AIM = 1.1;

const placeNowhere = () => ({ top: '', folder: '', record: '' });

/** The snapshot is the sum of what happened, not the list of it: a long run must not make each step dearer. */
export async function measureStateGrowth({ quick }) {
  const { systemClock } = await import('../dist/lib/index.js');
  const { openStore, projectPaths } = await import('../dist/state/index.js');
  const { openJournal } = await import('../dist/orchestrator/journal.js');
  const { replay } = await import('../dist/orchestrator/reduce.js');
  return inTempFolder(async (folder) => {
    const first = await stateOfRealRun(folder, (root) =>
      openStore(projectPaths(root, placeNowhere), 'bench', replay).read(),
    );
    const long = HISTORIES.map((count) => {
      const paths = projectPaths(path.join(folder, String(count)), placeNowhere);
      mkdirSync(paths.feature('bench').folder, { recursive: true });
      const store = openStore(paths, 'bench', replay);
      const journal = openJournal({ clock: systemClock, store, emit: () => undefined }, first);
      const history = endlessHistory();
      for (let event = 0; event < count; event++) journal.record(history.next().value);
      return { count, store, journal, history };
    });
    for (const { journal } of long) await journal.checkpoint();
    const writes = await interleave(contestants(long, writeSnapshot), quick ? 20 : 100);
    const steps = await interleave(contestants(long, recordAndSave), quick ? 20 : 100);
    return report(long, writes, steps);
  });
}

/** A run of the real program gives the state to begin with, so nothing here repeats its schema. */
async function stateOfRealRun(folder, read) {
  const root = path.join(folder, 'repository');
  mkdirSync(root);
  makeFeature(root, { count: TASKS, command: (file) => `echo x > ${file}` });
  await buildFeature(root, { count: TASKS });
  return read(root);
}

function contestants(long, measure) {
  return Object.fromEntries(long.map((one) => [`after ${one.count}`, () => timed(() => measure(one))]));
}

const writeSnapshot = ({ store, journal }) => store.write(journal.state);

async function recordAndSave({ journal, history }) {
  journal.record(history.next().value);
  await journal.save();
}

/** Tasks that fail, are asked for again and fail again: the run that has the most to remember. */
function* endlessHistory() {
  for (let step = 0; ; step++) {
    const facts = { task: `T${step % TASKS}`, worker: step % 4, attempt: 2 + Math.floor(step / TASKS) };
    yield { type: 'attempt-started', ...facts, base: 'f'.repeat(40), cause: 'again, because: exit status 1' };
    yield { type: 'attempt-failed', ...facts, ...FAILURE };
    yield { type: 'warning', text: `worker ${facts.worker} was silent for ${step} ms` };
    yield { type: 'task-reset', task: facts.task, cause: 'asked to retry' };
  }
}

const FAILURE = {
  outcome: 'verification-failed',
  detail: 'the verification "npm test" failed: exit status 1',
  feedback: 'expected 1, got 2\n'.repeat(100),
  commit: null,
  usage: null,
  charge: 'failure',
  notBefore: null,
};

function report(long, writes, steps) {
  const sizes = long.map(({ store }) => statSync(store.paths.state).size);
  const rows = long.map(({ count, store }, index) => {
    const write = formatSpread(summarize(writes[`after ${count}`]), ' ms', 1);
    const step = formatSpread(summarize(steps[`after ${count}`]), ' ms', 1);
    const log = kilobytes(statSync(store.paths.events).size);
    const text = `snapshot ${kilobytes(sizes[index])}, written in ${write}; event recorded and saved in ${step}; log ${log}`;
    return [`after ${count} events`, text];
  });
  const [, middle, last] = HISTORIES.map((count) => steps[`after ${count}`]);
  return {
    title: `State: ${TASKS} tasks, more and more history`,
    rows,
    aims: [
      { what: 'snapshot size, 10,000 against 1,000 events', value: sizes[2] / sizes[1], limit: AIM },
      { what: 'one saved event, 10,000 against 1,000', value: summarize(ratios(last, middle)).median, limit: AIM },
    ],
    raw: { sizes, writes, steps },
  };
}

function kilobytes(bytes) {
  return `${(bytes / 1024).toFixed(0)} KiB`;
}
