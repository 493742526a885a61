import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { hasWorkerImage, noWorkerImage } from './containers.js';
import { formatSpread, median, summarize } from './measure.js';
import { HERE, startTimes } from './start-times.js';
import { buildFeature, commitFiles, inTempFolder, writeFeature } from './temp-feature.js';

const MIB = 1024 ** 2;
const TASKS = { count: 6, command: (file) => `echo ${HERE}; sleep 3; echo x > ${file}`, verify: 'sleep 2' };
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
export async function measureLarge() {
  if (!hasWorkerImage()) return noWorkerImage('Large repositories');
  const found = {};
  for (const [name, make] of Object.entries(REPOSITORIES))
    found[name] = await inTempFolder((folder) => measure(folder, make));
  const kinds = Object.keys(KINDS);
  const times = (name, kind) => found[name].filter(KINDS[kind]).map(({ ms }) => ms);
  const large = Object.keys(REPOSITORIES).slice(1);
  return {
    title: 'Large repositories: number is free to command begins',
    rows: kinds.flatMap((kind) =>
      Object.keys(REPOSITORIES).map((name) => [
        `${kind}, repository ${name}`,
        formatSpread(summarize(times(name, kind)), ' ms'),
      ]),
    ),
    aims: kinds.flatMap((kind) =>
      large.map((name) => ({
        what: `${kind}, repository ${name} against a small one`,
        value: median(times(name, kind)) / median(times('small', kind)),
        limit: AIM,
      })),
    ),
    raw: { found },
  };
}

/** The first feature makes the snapshot, and the second one is measured. */
async function measure(folder, make) {
  const repository = path.join(folder, 'repository');
  const env = { ...process.env, XDG_STATE_HOME: path.join(folder, 'state') };
  mkdirSync(repository);
  make(repository);
  commitFiles(repository);
  writeFeature(repository, { ...TASKS, count: 1, feature: 'first' });
  await buildFeature(repository, { count: 1, env, mode: 'container', workers: 2, feature: 'first' });
  writeFeature(repository, { ...TASKS, feature: 'second' });
  return startTimes(
    await buildFeature(repository, { ...TASKS, env, mode: 'container', workers: 2, feature: 'second' }),
  );
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
