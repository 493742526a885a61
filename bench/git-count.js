import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buildFeature, inTempFolder, makeFeature } from './temp-feature.js';

const SMALL = 8;
const LARGE = 24;

/**
 * git processes per task, by subcommand, of orchestrator and worker: two runs of different size, and what the larger
 * one has more, so that what happens once per run or once per worker does not count.
 */
export async function countGit(command) {
  const small = await countRun(SMALL, command);
  const large = await countRun(LARGE, command);
  return { orchestrator: perTask(large, small, 'orchestrator'), worker: perTask(large, small, 'worker') };
}

function perTask(large, small, who) {
  const more = Object.keys(large[who]).map((name) => {
    const number = (large[who][name] - (small[who][name] ?? 0)) / (LARGE - SMALL);
    return [name, Math.round(number * 10) / 10];
  });
  return Object.fromEntries(more.filter(([, number]) => number > 0));
}

async function countRun(count, command) {
  return inTempFolder(async (folder) => {
    const repository = path.join(folder, 'repository');
    const log = path.join(folder, 'git.log');
    mkdirSync(repository);
    makeFeature(repository, { count, command });
    const PATH = `${putCountingGit(folder, log)}${path.delimiter}${process.env.PATH}`;
    await buildFeature(repository, { count, env: { ...process.env, PATH } });
    return tally(readFileSync(log, 'utf8'));
  });
}

/** A `git` that notes its subcommand and goes on as the real one. Only a worker names its GIT_DIR. */
function putCountingGit(folder, log) {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  const script = `#!/bin/sh
who=\${GIT_DIR:+worker}
skip=
for word; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $word in
    -c | -C) skip=yes; continue ;;
    -*) continue ;;
  esac
  echo "\${who:-orchestrator} $word" >> '${log}'
  break
done
exec '${real}' "$@"
`;
  writeFileSync(path.join(bin, 'git'), script, { mode: 0o755 });
  return bin;
}

function tally(text) {
  const counts = { orchestrator: {}, worker: {} };
  for (const line of text.trimEnd().split('\n')) {
    const [who, name] = line.split(' ');
    counts[who][name] = (counts[who][name] ?? 0) + 1;
  }
  return counts;
}
