import { execFileSync, spawn } from 'node:child_process';
import { formatSpread, interleave, median, ratios, summarize, timed } from './measure.js';
import { runProgram } from './program.js';
import { buildOnce } from './temp-feature.js';

const IMAGE = 'mahabharatha-worker:latest';
const STARTS = 4;
const LASTING = { count: 16, command: (file) => `sleep 5; echo x > ${file}` };
const READY = { count: STARTS, command: (file) => `echo x > ${file}` };
/** Random, so that nothing of it is compressed away. */
const RESULTS = { count: 8, command: (file) => `sleep 3; head -c 1000000 /dev/urandom > ${file}`, workers: 8 };

/** What containers cost: until a worker works, while it works, and when its result is fetched. */
export async function measureContainers({ quick }) {
  if (!hasWorkerImage()) return noWorkerImage('Containers');
  const rounds = quick ? 2 : 7;
  const { ours, raw } = await interleave({ ours: spawnToReady, raw: rawDockerRun }, rounds);
  const { container, subprocess, plain } = await interleave(
    {
      container: () => makespan('container'),
      subprocess: () => makespan('subprocess'),
      plain: () => plainContainers(Array.from({ length: LASTING.count }, () => '5')),
    },
    quick ? 1 : 3,
  );
  const { home } = await interleave({ home: collectAndMerge }, rounds);
  const [spawned, lasted] = [summarize(ratios(ours, raw)), summarize(ratios(container, plain))];
  return {
    title: 'Containers: four at once, against docker run and against subprocesses',
    rows: [
      ['worker starts to task begins', formatSpread(summarize(ours), ' ms')],
      ['docker run of the same image to the first line of its Node', formatSpread(summarize(raw), ' ms')],
      ['ratio', formatSpread(spawned, '', 2)],
      ['16 tasks of 5 s, containers', formatSpread(summarize(container), ' ms')],
      ['16 tasks of 5 s, subprocesses', formatSpread(summarize(subprocess), ' ms')],
      ['ratio', formatSpread(summarize(ratios(container, subprocess)), '', 3)],
      ['16 times `docker run` of `sleep 5`, four at a time', formatSpread(summarize(plain), ' ms')],
      ['ratio', formatSpread(lasted, '', 3)],
      ['8 workers that end together, 1 MB each: last one ends to all is merged', formatSpread(summarize(home), ' ms')],
    ],
    aims: [
      { what: 'spawn to ready against docker run', value: spawned.median, limit: 1.3 },
      { what: '16 tasks of 5 s against as many times docker run', value: lasted.median, limit: 1.05 },
    ],
    raw: { ours, raw, container, subprocess, plain, home },
  };
}

export function noWorkerImage(title) {
  return { title: `${title}: left out, there is no engine or no image ${IMAGE}`, rows: [], aims: [], raw: {} };
}

export function hasWorkerImage() {
  try {
    execFileSync('docker', ['image', 'inspect', IMAGE], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Median over the workers, all started in the same moment. */
async function spawnToReady() {
  const { events, workerLogs } = await buildOnce({ ...READY, mode: 'container' });
  const starts = events.filter(({ type }) => type === 'worker-starting');
  const times = starts.map(({ worker, at }) => {
    const begun = workerLogs.find((line) => line.worker === worker && / begins: /.test(line.text));
    return begun === undefined ? Number.NaN : Date.parse(begun.at) - Date.parse(at);
  });
  const known = times.filter((time) => !Number.isNaN(time));
  if (known.length === 0) throw new Error('no worker has begun a task');
  return median(known);
}

async function rawDockerRun() {
  return median(await Promise.all(Array.from({ length: STARTS }, untilItSpeaks)));
}

function untilItSpeaks() {
  const started = performance.now();
  const node = ['--entrypoint', '/opt/mahabharatha/node', IMAGE, '-e', 'console.log("ready")'];
  const child = spawn('docker', ['run', '--rm', '--init', '--network', 'none', ...node], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return new Promise((resolve, reject) => {
    let spoken;
    child.stdout.once('data', () => (spoken = performance.now() - started));
    child.once('error', reject);
    child.once('close', () => (spoken === undefined ? reject(new Error('docker run said nothing')) : resolve(spoken)));
  });
}

async function makespan(mode) {
  return (await buildOnce({ ...LASTING, mode })).totalMs;
}

/** How long containers that only sleep take, four at a time. */
export async function plainContainers(sleeps) {
  const rest = sleeps.values();
  const lane = async () => {
    for (const seconds of rest)
      await runProgram('docker', ['run', '--rm', '--network', 'none', '--entrypoint', 'sleep', IMAGE, seconds]);
  };
  return timed(() => Promise.all(Array.from({ length: 4 }, lane)));
}

async function collectAndMerge() {
  const { events, workerLogs } = await buildOnce({ ...RESULTS, mode: 'container' });
  const ended = workerLogs.filter(({ text }) => / ends: /.test(text)).map(({ at }) => Date.parse(at));
  const merged = events.find(({ type }) => type === 'level-published');
  return Date.parse(merged.at) - Math.max(...ended);
}
