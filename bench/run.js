import { existsSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureContainers } from './containers.js';
import { measureGrowth } from './growth.js';
import { measureLarge } from './large.js';
import { measureMakespan } from './makespan.js';
import { measureMcp } from './mcp.js';
import { measurePeer } from './peer.js';
import { endProgramsOnSignal } from './program.js';
import { describeMachine, formatMarkdown, formatText, isFarOff, loadNow } from './report.js';
import { measureServe } from './serve.js';
import { measureSpares } from './spares.js';
import { measureStartup } from './startup.js';
import { measureStateGrowth } from './state-growth.js';
import { measureTrivialTasks } from './trivial-tasks.js';

const BUILT = new URL('../dist/cli/main.js', import.meta.url);
const RESULTS = new URL('RESULTS.md', import.meta.url);

const MEASUREMENTS = {
  makespan: measureMakespan,
  trivial: measureTrivialTasks,
  growth: measureGrowth,
  startup: measureStartup,
  state: measureStateGrowth,
  containers: measureContainers,
  spares: measureSpares,
  large: measureLarge,
  serve: measureServe,
  mcp: measureMcp,
  peer: measurePeer,
};

/** Installs a package of others: only when it is asked for. */
const ON_REQUEST = new Set(['peer']);

const USAGE = `node bench/run.js [options] [${Object.keys(MEASUREMENTS).join('|')} …]

  --quick    fewer rounds: about half a minute
  --json     everything that was measured, as JSON
  --write    write bench/RESULTS.md
  --peer     also the nearest peer, installed from npm for the measurement
  --strict   exit status 1 when an aim is missed by more than 15 %
`;

async function main() {
  const { values: options, positionals } = readArguments();
  if (options.help) return process.stdout.write(USAGE);
  if (!existsSync(BUILT)) throw new Error('there is no dist/ to measure: npm run build');
  endProgramsOnSignal();
  const before = loadNow();
  const results = await measureAll(positionals, options);
  const machine = { ...describeMachine(), load: { before, after: loadNow() } };
  process.stdout.write(options.json ? `${JSON.stringify({ machine, results })}\n` : formatText(results));
  if (options.write) writeFileSync(RESULTS, formatMarkdown(machine, results, options));
  if (options.strict && results.some(({ aims }) => aims.some(isFarOff))) process.exitCode = 1;
}

function readArguments() {
  const flag = { type: 'boolean', default: false };
  const given = parseArgs({
    options: { quick: flag, json: flag, write: flag, peer: flag, strict: flag, help: flag },
    allowPositionals: true,
  });
  const unknown = given.positionals.filter((name) => !(name in MEASUREMENTS));
  if (unknown.length > 0) throw new Error(`there is no measurement ${unknown.join(', ')}\n\n${USAGE}`);
  if (given.values.write && given.positionals.length > 0)
    throw new Error('--write needs all measurements: name none of them');
  return given;
}

/** One after the other: two at once would measure each other. */
async function measureAll(wanted, { quick, peer }) {
  const results = [];
  for (const [name, measure] of Object.entries(MEASUREMENTS)) {
    const isDefault = wanted.length === 0 && !ON_REQUEST.has(name);
    if (!isDefault && !wanted.includes(name) && !(peer && name === 'peer')) continue;
    process.stderr.write(`measuring ${name} …\n`);
    results.push({ name, ...(await measure({ quick })) });
  }
  return results;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 2;
}
