import { execFileSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatSpread, interleave, ratios, summarize } from './measure.js';
import { CLI, runProgram } from './program.js';
import { buildOnce, inTempFolder, mergedFiles, newRepository } from './temp-feature.js';

const PACKAGE = '@ai-hero/sandcastle@0.12.0';
const BASE = 'mahabharatha-worker:latest';
const IMAGE = `mahabharatha-bench-peer:${process.pid}`;
const RUNNER = fileURLToPath(new URL('peer-runner.mjs', import.meta.url));
const WORKERS = 4;

/**
 * Ours, for the same programs in both. Its own image would end only ten seconds after it is asked to, as nothing in it
 * answers SIGTERM: here it ends at once.
 */
const dockerfile = () => `FROM ${BASE}
USER root
RUN mkdir -p /home/agent && chmod 777 /home/agent
USER ${process.getuid()}:${process.getgid()}
HEALTHCHECK NONE
STOPSIGNAL SIGKILL
ENTRYPOINT ["sleep", "infinity"]
`;

const sleeping = (seconds) => (file) =>
  `sleep ${seconds}; echo x > ${file}; git add ${file}; git -c user.name=bench -c user.email=bench@localhost commit --quiet --message ${file}`;

/** The same tasks with the nearest peer's Docker provider. It is installed for the measurement, and removed. */
export async function measurePeer({ quick }) {
  return inTempFolder(async (folder) => {
    const why = await prepare(folder);
    if (why !== undefined) return { title: `Peer: left out, ${why}`, rows: [], aims: [], raw: {} };
    try {
      const lasting = await compare(folder, { count: quick ? 8 : 16, seconds: quick ? 1 : 5 }, quick ? 1 : 3);
      const short = await compare(folder, { count: quick ? 8 : 40, seconds: 0.5 }, quick ? 1 : 3);
      return {
        title: `Peer: ${PACKAGE} with its Docker provider, on the same image, ${WORKERS} at once, merged`,
        rows: [...lasting.rows, ...short.rows],
        aims: [],
        raw: { lasting: lasting.raw, short: short.raw },
      };
    } finally {
      execFileSync('docker', ['rmi', IMAGE], { stdio: 'ignore' });
    }
  });
}

/** Why the peer cannot be measured here; undefined when it can. */
async function prepare(folder) {
  try {
    execFileSync('docker', ['image', 'inspect', BASE], { stdio: 'ignore' });
  } catch {
    return `there is no engine or no image ${BASE}`;
  }
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  try {
    // A run would build a stale image within its time.
    await runProgram(process.execPath, [CLI, 'build'], { cwd: folder });
    await runProgram('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', PACKAGE], { cwd: folder });
    await runProgram('docker', ['build', '--quiet', '--tag', IMAGE, '-'], { cwd: folder, input: dockerfile() });
  } catch (error) {
    return `it could not be installed: ${error.message.trim().split('\n').at(-1)}`;
  }
  copyFileSync(RUNNER, path.join(folder, 'runner.mjs'));
  return undefined;
}

async function compare(folder, { count, seconds }, rounds) {
  const command = sleeping(seconds);
  const tasks = { count, command };
  const { ours, peer } = await interleave(
    {
      ours: async () => (await buildOnce({ ...tasks, mode: 'container', workers: WORKERS })).totalMs,
      peer: () => buildWithPeer(folder, tasks),
    },
    rounds,
  );
  const what = `${count} tasks of ${seconds} s`;
  const ratio = summarize(ratios(ours, peer));
  return {
    rows: [
      [`${what}, ours`, formatSpread(summarize(ours), ' ms')],
      [`${what}, peer`, formatSpread(summarize(peer), ' ms')],
      ['ratio', formatSpread(ratio, '', 3)],
    ],
    raw: { ours, peer },
  };
}

function buildWithPeer(installed, { count, command }) {
  return inTempFolder(async (folder) => {
    newRepository(folder);
    const commands = Array.from({ length: count }, (_, index) => command(`file-${index}.txt`));
    const started = performance.now();
    const runner = path.join(installed, 'runner.mjs');
    await runProgram(process.execPath, [runner, folder, IMAGE, String(WORKERS), JSON.stringify(commands)], {
      cwd: folder,
    });
    const totalMs = performance.now() - started;
    const found = mergedFiles(folder, 'HEAD');
    if (found !== count) throw new Error(`the peer merged ${found} of ${count} files`);
    return totalMs;
  });
}
