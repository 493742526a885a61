import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { hasWorkerImage, noWorkerImage, plainContainers } from './containers.js';
import { formatSpread, interleave, ratios, summarize } from './measure.js';
import { HERE, startTimes } from './start-times.js';
import { buildOnce } from './temp-feature.js';

const docker = promisify(execFile);

/** As many tasks as make each kind of start often, with pauses in which spares are made. */
const STARTS = {
  count: 8,
  workers: 2,
  command: (file) => `echo ${HERE}; sleep 2; echo x > ${file}`,
  verify: 'sleep 1',
};
const SHORT = { count: 40, workers: 4, command: (file) => `sleep 0.5; echo x > ${file}` };
const AIM_MS = 60;

const summaryOf = (starts) => summarize(starts.map(({ ms }) => ms));

/** What workers that wait before they are needed save, and what they cost. */
export async function measureSpares({ quick }) {
  if (!hasWorkerImage()) return noWorkerImage('Spares');
  const found = [];
  const waiting = [];
  for (let round = 0; round < (quick ? 1 : 3); round += 1) {
    const watch = watchSpares();
    found.push(...startTimes(await buildOnce({ ...STARTS, mode: 'container' })));
    waiting.push(...(await watch.end()));
  }
  const of = (kind) => found.filter(kind);
  const [warm, cold] = [summaryOf(of((start) => start.warm)), summaryOf(of((start) => !start.warm))];
  const verified = summaryOf(of((start) => start.warm && start.verifies));
  const ends = summarize(of((start) => start.warm && start.sinceEnd !== undefined).map((start) => start.sinceEnd));
  const many = await measureShort(quick ? 1 : 3);
  return {
    title: 'Spares: starts in containers, and many short tasks',
    rows: [
      ['place is free to command begins, with a spare', formatSpread(warm, ' ms')],
      ['of these, verifications', formatSpread(verified, ' ms')],
      ['the same without a spare, two at once', formatSpread(cold, ' ms')],
      ['end of the work before to command begins, with a spare', formatSpread(ends, ' ms')],
      ['memory of a spare that waits', formatSpread(summarize(waiting.map(({ mib }) => mib)), ' MiB')],
      ['its processes and threads', formatSpread(summarize(waiting.map(({ pids }) => pids)))],
      ...many.rows,
    ],
    aims: [
      {
        what: `place is free to command begins with a spare, against ${AIM_MS} ms`,
        value: warm.median / AIM_MS,
        limit: 1,
      },
      ...many.aims,
    ],
    raw: { found, waiting, ...many.raw },
  };
}

const sleeps = (...each) => Array.from({ length: SHORT.count }, () => each).flat();

const short = (mode, verify) => async () => (await buildOnce({ ...SHORT, mode, verify })).totalMs;

const ratioOf = (values, references) => summarize(ratios(values, references));

async function measureShort(rounds) {
  const raw = await interleave(
    {
      plain: short('container'),
      plainSubprocess: short('subprocess'),
      verified: short('container', 'true'),
      verifiedSubprocess: short('subprocess', 'true'),
      bare: () => plainContainers(sleeps('0.5')),
      bareTwice: () => plainContainers(sleeps('0.5', '0')),
    },
    rounds,
  );
  const [plain, verified] = [ratioOf(raw.plain, raw.bare), ratioOf(raw.verified, raw.bareTwice)];
  return {
    raw,
    rows: [
      ['40 tasks of 0.5 s on 4 workers, containers', formatSpread(summarize(raw.plain), ' ms')],
      ['subprocesses', formatSpread(summarize(raw.plainSubprocess), ' ms')],
      ['ratio', formatSpread(ratioOf(raw.plain, raw.plainSubprocess), '', 2)],
      ['40 times `docker run` of `sleep 0.5`, four at a time', formatSpread(summarize(raw.bare), ' ms')],
      ['ratio', formatSpread(plain, '', 2)],
      ['each with a verification, in a container of its own', formatSpread(summarize(raw.verified), ' ms')],
      ['subprocesses', formatSpread(summarize(raw.verifiedSubprocess), ' ms')],
      ['ratio', formatSpread(ratioOf(raw.verified, raw.verifiedSubprocess), '', 2)],
      ['the same `docker run` and 40 of `sleep 0`', formatSpread(summarize(raw.bareTwice), ' ms')],
      ['ratio', formatSpread(verified, '', 2)],
    ],
    aims: [
      { what: '40 tasks of 0.5 s against as many times docker run', value: plain.median, limit: 1.25 },
      { what: '40 tasks of 0.5 s with verification against twice as many', value: verified.median, limit: 1.25 },
    ],
  };
}

/** Asks the engine about spares while a run goes on. */
function watchSpares() {
  const seen = [];
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      seen.push(...(await spareStats().catch(() => [])));
      await sleep(500);
    }
  })();
  return {
    end: async () => {
      over.abort();
      await watching;
      return seen;
    },
  };
}

async function spareStats() {
  const format = '{{.Name}} {{.MemUsage}} {{.PIDs}}';
  const { stdout } = await docker('docker', ['stats', '--no-stream', '--format', format]);
  return stdout.split('\n').flatMap((line) => {
    const [, mib, pids] = /^mahabharatha-spare-\S+ ([\d.]+)MiB .* (\d+)$/.exec(line) ?? [];
    return mib === undefined || pids === '0' ? [] : [{ mib: Number(mib), pids: Number(pids) }];
  });
}
