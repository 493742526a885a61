import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatSpread, interleave, ratios, summarize, timed } from './measure.js';
import { runProgram } from './program.js';
import { bareTimes, inWords, many, quantiles } from './request-times.js';
import { BASE, hasImage, LANGUAGES, startServer } from './served.js';
import { inTempFolder } from './temp-feature.js';

const LOAD_GENERATOR = 'autocannon@8.0.0';
const AIM_OVER_BARE_MS = 3;
const MEGABYTES = 50;

/** What a request costs, beside the program that it runs. */
export async function measureServe({ quick }) {
  const missing = [BASE].filter((image) => !hasImage(image));
  if (missing.length > 0)
    return { title: `Serve: left out, there is no image ${missing[0]}`, rows: [], aims: [], raw: {} };
  const languages = Object.keys(LANGUAGES).filter((name) => hasImage(LANGUAGES[name].image));
  return inTempFolder(async (folder) => {
    const server = await startServer(folder, languages);
    try {
      const parts = [];
      for (const name of languages) parts.push(await measureLanguage(server, name, quick));
      parts.push(await measureSessions(server, quick));
      parts.push(await measureLoad(server, folder, quick));
      parts.push(await measureMemory(server, quick));
      parts.push(await measureSlowReader(server));
      return {
        title: 'Serve: requests that do next to nothing, one after the other unless said otherwise',
        rows: parts.flatMap(({ rows }) => rows),
        aims: parts.flatMap(({ aims = [] }) => aims),
        raw: Object.assign({}, ...parts.map(({ raw = {} }) => raw)),
      };
    } finally {
      await server.end();
    }
  });
}

async function measureLanguage(server, name, quick) {
  const { code, command, extension } = LANGUAGES[name];
  const count = quick ? 20 : 200;
  const first = await execute(server, name, code);
  const container = first.container_id;
  const file = `/tmp/bench${extension}`;
  // As the user of an execution, in a folder that every user may write.
  const inside = ['exec', '--user', '20000:20000', container];
  const program = command.map((word) => word.replace('{filepath}', file));
  // Each request clears that folder.
  const writeFile = () => execFileSync('docker', [...inside, 'sh', '-c', `printf '%s\n' '${code}' > ${file}`]);
  const found = { ours: [], bare: [], exec: [] };
  await interleave(
    {
      ours: async () => found.ours.push(...(await many(count, () => execute(server, name, code)))),
      bare: async () => {
        writeFile();
        found.bare.push(...bareTimes(inside, count, program));
      },
      exec: async () => {
        writeFile();
        found.exec.push(...(await many(count / 10, () => runProgram('docker', [...inside, ...program]))));
      },
    },
    quick ? 1 : 5,
  );
  const [ours, bare, exec] = [found.ours, found.bare, found.exec].map(quantiles);
  return {
    rows: [
      [`${name}: a request`, inWords(ours)],
      [`${name}: the bare process in the same container`, inWords(bare)],
      [`${name}: docker exec`, inWords(exec)],
    ],
    aims: [
      name === 'shell'
        ? { what: 'shell over the bare process', value: ours.p50 - bare.p50, limit: AIM_OVER_BARE_MS, unit: 'ms' }
        : { what: `${name} against the bare process`, value: ours.p50 / bare.p50, limit: 1 },
      { what: `${name} against docker exec`, value: ours.p50 / exec.p50, limit: 0.1 },
    ],
    raw: { [name]: found },
  };
}

async function execute(server, name, code) {
  const { status, text } = await server.ask(`/execute/${name}`, { code });
  const answer = JSON.parse(text);
  if (answer.stdout !== 'hello\n') throw new Error(`${name}: ${status} ${text}`);
  return answer;
}

async function measureSessions(server, quick) {
  const create = async () => {
    const response = await server.post('/v1/sessions', { project_id: 'bench', runtime_type: 'shell' });
    const { session_id: id } = await response.json();
    return id;
  };
  const ours = async () => {
    const started = performance.now();
    const id = await create();
    const took = performance.now() - started;
    await fetch(`${server.address}/v1/sessions/${id}`, { method: 'DELETE' });
    return took;
  };
  const values = await interleave({ ours, raw: rawDockerRun }, quick ? 3 : 15);
  const ratio = summarize(ratios(values.ours, values.raw));
  return {
    rows: [
      ['a new session', formatSpread(summarize(values.ours), ' ms')],
      ['docker run --rm of the same image', formatSpread(summarize(values.raw), ' ms')],
    ],
    aims: [{ what: 'a new session against docker run', value: ratio.median, limit: 1.2 }],
    raw: { sessions: values },
  };
}

function rawDockerRun() {
  return timed(() => runProgram('docker', ['run', '--rm', '--network', 'none', BASE, 'true']));
}

/** Requests a second, from a load generator that is installed for it. */
async function measureLoad(server, folder, quick) {
  try {
    await runProgram('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', LOAD_GENERATOR], {
      cwd: folder,
    });
  } catch {
    return { rows: [['requests a second', `left out, ${LOAD_GENERATOR} could not be installed`]] };
  }
  const rows = [];
  for (const clients of [1, 8, 32]) {
    const args = ['--json', '--connections', String(clients), '--duration', quick ? '2' : '10', '--method', 'POST'];
    const request = ['--headers', 'content-type=application/json', '--body', JSON.stringify({ code: 'echo hello' })];
    const program = path.join(folder, 'node_modules', 'autocannon', 'autocannon.js');
    const text = execFileSync(process.execPath, [program, ...args, ...request, `${server.address}/execute/shell`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { requests, latency, non2xx, errors } = JSON.parse(text);
    const failed = non2xx + errors === 0 ? '' : `, ${non2xx + errors} not answered with 200`;
    const figures = `${requests.average.toFixed(0)} a second, p50 ${latency.p50} ms, p99 ${latency.p99} ms${failed}`;
    rows.push([`shell, ${clients} client${clients === 1 ? '' : 's'}`, figures]);
  }
  return { rows };
}

async function measureMemory(server, quick) {
  const [warmUp, count, atOnce] = [500, quick ? 500 : 10_000, 8];
  const run = async (total) => {
    const one = async () => {
      for (let index = 0; index < total / atOnce; index++) await execute(server, 'shell', 'echo hello');
    };
    await Promise.all(Array.from({ length: atOnce }, one));
  };
  await run(warmUp);
  const before = server.memory();
  await run(count);
  const after = server.memory();
  return {
    rows: [
      [
        `memory of the server, after ${warmUp} and ${count} more executions`,
        `${before.toFixed(0)} and ${after.toFixed(0)} MiB`,
      ],
    ],
    aims: [{ what: `memory after ${count} more executions`, value: after / before, limit: 1.2 }],
  };
}

/** The reader takes far less than the command could print. */
async function measureSlowReader(server) {
  const { session_id: id } = await (
    await server.post('/v1/sessions', { project_id: 'slow', runtime_type: 'shell' })
  ).json();
  const command = `head -c ${MEGABYTES * 1024 * 1024} /dev/zero | tr '\\0' x`;
  const before = server.memory();
  const response = await server.post(`/v1/sessions/${id}/exec`, { command }, 'text/event-stream');
  let [highest, bytes] = [before, 0];
  for await (const chunk of response.body) {
    bytes += chunk.length;
    highest = Math.max(highest, server.memory());
    await sleep(1);
  }
  if (bytes < MEGABYTES * 1024 * 1024) throw new Error(`only ${bytes} bytes of a stream came`);
  const grown = highest - before;
  return {
    rows: [[`memory of the server while a slow reader takes ${MEGABYTES} MB`, `${grown.toFixed(0)} MiB more at most`]],
    aims: [{ what: 'memory that a slow reader costs', value: grown, limit: 32, unit: 'MiB' }],
  };
}
