import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { timed } from './measure.js';
import { endProgramsOnSignal, runProgram } from './program.js';
import { formatText } from './report.js';
import { inTempFolder, newRepository } from './temp-feature.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const AIM_S = 120;

const USAGE = `node bench/fresh-clone.js [options]

  --base-image <image>   what the worker image is built on, and must be there (default: mahabharatha-base:bookworm)
  --no-cache             no step of the image's build comes from the engine's cache
  --json                 as JSON
`;

/** From nothing to a merged feature in containers, as a new user goes: how long each step takes. */
async function measureFreshClone({ baseImage, cache }) {
  execFileSync('docker', ['image', 'inspect', baseImage], { stdio: ['ignore', 'ignore', 'inherit'] });
  return inTempFolder(async (top) => {
    const steps = stepsIn(top, { baseImage, cache });
    const raw = {};
    for (const [name, work] of Object.entries(steps)) {
      process.stderr.write(`${name} …\n`);
      raw[name] = await timed(work);
    }
    if (!existsSync(path.join(top, 'project', 'mahabharatha-example', 'hello.txt')))
      throw new Error('the work is not on the branch');
    return report(raw, cache);
  });
}

function stepsIn(top, { baseImage, cache }) {
  const [clone, project] = [path.join(top, 'clone'), path.join(top, 'project')];
  mkdirSync(project);
  newRepository(project);
  // A new user has approved nothing, and has no run or snapshot.
  const env = { ...process.env, XDG_STATE_HOME: path.join(top, 'state'), XDG_CONFIG_HOME: path.join(top, 'config') };
  const program = path.join(clone, 'bin', 'mahabharatha.js');
  const ours = (...args) => runProgram(process.execPath, [program, ...args], { cwd: project, env });
  return {
    'git clone': () => runProgram('git', ['clone', '--quiet', `file://${ROOT}`, clone], { cwd: top }),
    'npm install': () => runProgram('npm', ['install', '--no-audit', '--no-fund'], { cwd: clone }),
    init: () => ours('init'),
    build: () => ours('build', '--base-image', baseImage, ...(cache ? [] : ['--no-cache'])),
    kurukshetra: () => ours('kurukshetra', '--feature', 'example', '--mode', 'container'),
    merge: () => ours('merge', '--feature', 'example'),
    cleanup: () => ours('cleanup', '--feature', 'example', '--yes'),
  };
}

function report(raw, cache) {
  const seconds = Object.values(raw).reduce((sum, ms) => sum + ms, 0) / 1000;
  return {
    title: `Fresh clone to merged branch in containers${cache ? '' : ', nothing of the image from the cache'}`,
    rows: Object.entries(raw).map(([name, ms]) => [name, `${(ms / 1000).toFixed(1)} s`]),
    aims: [{ what: 'all of it', value: seconds, limit: AIM_S, unit: 's' }],
    raw,
  };
}

async function main() {
  const { values } = parseArgs({
    options: {
      'base-image': { type: 'string', default: 'mahabharatha-base:bookworm' },
      'no-cache': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return process.stdout.write(USAGE);
  endProgramsOnSignal();
  const result = await measureFreshClone({ baseImage: values['base-image'], cache: !values['no-cache'] });
  process.stdout.write(values.json ? `${JSON.stringify(result)}\n` : formatText([result]));
  if (result.aims.some(({ value, limit }) => value > limit)) process.exitCode = 1;
}

// The test of the bench loads every part.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`fresh-clone: ${error.message}\n`);
    process.exitCode = 2;
  }
}
