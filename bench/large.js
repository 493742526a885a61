import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hasWorkerImage, noWorkerImage } from './containers.js';
import { formatSpread, median, summarize } from './measure.js';
import { HERE, startTimes } from './start-times.js';
import { buildFeature, commitFiles, inTempFolder, writeFeature } from './temp-feature.js';

const MIB = 1024 ** 2;
const [SECONDS, SECONDS_OF_FIRST] = [2, 1];
const TASKS = { count: 10, command: taskCommand, verify: `sleep ${SECONDS}` };
const AIM = 1.3;

const REPOSITORIES = {
  small: (folder) => fill(folder, 50, 100),
  'of 20,000 files': (folder) => fill(folder, 20_000, 200),
  'of 2 GB': (folder) => fill(folder, 64, 32 * MIB),
};

const KINDS = {
  'task, with a spare': (start) => start.warm && !start.verifies,
  'verification, with a spare': (start) => start.warm && start.verifies,
  'without a spare': (start) => !start.warm,
};

/** How much longer a start takes on a large repository, when its snapshot has been made. */
export async function measureLarge({ quick }) {
  if (!hasWorkerImage()) return noWorkerImage('Large repositories');
  const rounds = await inTempFolder((folder) => measureRounds(folder, quick ? 1 : 3));
  const kinds = Object.keys(KINDS);
  const [small, ...large] = Object.keys(REPOSITORIES);
  const times = (round, name, kind) => round[name].filter(KINDS[kind]).map(({ ms }) => ms);
  const all = (name, kind) => summarize(rounds.flatMap((round) => times(round, name, kind)));
  const ratio = (name, kind) =>
    summarize(rounds.map((round) => median(times(round, name, kind)) / median(times(round, small, kind))));
  return {
    title: 'Large repositories: place is free to command begins',
    rows: kinds.flatMap((kind) => [
      [`${kind}, repository ${small}`, formatSpread(all(small, kind), ' ms')],
      ...large.flatMap((name) => [
        [`${kind}, repository ${name}`, formatSpread(all(name, kind), ' ms')],
        ['ratio', formatSpread(ratio(name, kind), '', 2)],
      ]),
    ]),
    aims: kinds.flatMap((kind) =>
      large.map((name) => ({
        what: `${kind}, repository ${name} against a small one`,
        value: ratio(name, kind).median,
        limit: AIM,
      })),
    ),
    raw: { rounds },
  };
}

/** The repositories take turns. The first feature of each makes its snapshot. */
async function measureRounds(folder, count) {
  const names = Object.keys(REPOSITORIES);
  // Where a path has a space there are no snapshots.
  const placeOf = (name) => path.join(folder, String(names.indexOf(name)));
  for (const name of names) {
    const repository = path.join(placeOf(name), 'repository');
    mkdirSync(repository, { recursive: true });
    REPOSITORIES[name](repository);
    commitFiles(repository);
    await build(placeOf(name), 'first', { ...TASKS, count: 1 });
  }
  const rounds = [];
  for (let round = 0; round < count; round += 1) {
    const found = {};
    for (const name of round % 2 === 0 ? names : names.toReversed())
      found[name] = startTimes(await build(placeOf(name), `round-${round}`, TASKS));
    rounds.push(found);
  }
  return rounds;
}

/** The first task is shorter: starts at the two places that come at once would measure each other. */
function taskCommand(file) {
  const seconds = file === 'file-0.txt' ? SECONDS_OF_FIRST : SECONDS;
  return `echo ${HERE}; sleep ${seconds}; echo x > ${file}`;
}

function build(folder, feature, tasks) {
  const repository = path.join(folder, 'repository');
  writeFeature(repository, { ...tasks, feature });
  const env = { ...process.env, XDG_STATE_HOME: path.join(folder, 'state') };
  return buildFeature(repository, { ...tasks, env, mode: 'container', workers: 2, feature });
}

/** Files whose bytes are not the same, so that git stores each; the first bytes are enough for that. */
function fill(folder, count, bytes) {
  const content = Buffer.alloc(bytes);
  for (let index = 0; index < count; index += 1) {
    const inside = path.join(folder, 'src', `${index % 100}`);
    mkdirSync(inside, { recursive: true });
    content.write(`${index}\n`);
    writeFileSync(path.join(inside, `${index}.txt`), content);
  }
}
