import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { interleave, timed } from './measure.js';
import { CLI, runProgram } from './program.js';
import { bareTimes, inWords, many, quantiles } from './request-times.js';
import { BASE, hasImage } from './served.js';
import { inTempFolder } from './temp-feature.js';

const ONE = 'console.log(1)';
const IMPORTED = 'import ms from "ms"; console.log(typeof ms)';
const AT_ONCE = 20;
const AIM_OVER_BARE_MS = 5;
const AIM_IMPORT_MS = 20;

/** What a call of `run_code` costs, beside the program that it runs. */
export async function measureMcp({ quick }) {
  if (!hasImage(BASE)) return { title: `Code of AI clients: left out, there is no image ${BASE}`, rows: [], aims: [] };
  return inTempFolder(async (folder) => {
    const server = await startClient(folder);
    try {
      const first = await timed(() => run(server, ONE));
      const parts = [await measureCalls(server, quick), await measureImports(server, quick)];
      parts.push(await measureSessions(server), await measureMemory(server, quick));
      return {
        title: 'Code of AI clients: calls of run_code that do next to nothing',
        rows: [['the first call, with its container', `${first.toFixed(0)} ms`], ...parts.flatMap(({ rows }) => rows)],
        aims: parts.flatMap(({ aims }) => aims),
        raw: Object.assign({}, ...parts.map(({ raw }) => raw)),
      };
    } finally {
      await server.client.close();
    }
  });
}

async function startClient(folder) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CLI, 'mcp'],
    cwd: folder,
    env: {
      ...process.env,
      EXECUTION_MODE: 'container',
      BUN_RUNNER_BASE: BASE,
      XDG_STATE_HOME: folder,
      MAHABHARATHA_MCP_SESSIONS: '100',
    },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'bench', version: '1.0.0' });
  await client.connect(transport);
  const label = `label=mahabharatha.mcp=${folder}/mahabharatha/mcp`;
  return {
    client,
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${transport.pid}/status`, 'utf8'))[1]) / 1024,
    container: () =>
      execFileSync('docker', ['ps', '-q', '--filter', label], { encoding: 'utf8' }).trim().split('\n')[0],
  };
}

async function run({ client }, code, session = 'default') {
  const answer = await client.callTool(
    { name: 'run_code', arguments: { code, session_id: session } },
    { timeout: 300_000 },
  );
  if (answer.structuredContent.exit_code !== 0) throw new Error(JSON.stringify(answer.structuredContent));
}

async function measureCalls(server, quick) {
  const count = quick ? 20 : 200;
  const inside = ['exec', '--user', '70000:70000', '--workdir', '/packages', server.container()];
  const program = ['bun', 'run', '--no-install', '/code/main.ts'];
  const found = { ours: [], bare: [], exec: [] };
  await interleave(
    {
      ours: async () => found.ours.push(...(await many(count, () => run(server, ONE)))),
      bare: async () => found.bare.push(...bareTimes(inside, count, program)),
      exec: async () =>
        found.exec.push(...(await many(count / 10, () => runProgram('docker', [...inside, ...program])))),
    },
    quick ? 1 : 5,
  );
  const [ours, bare, exec] = [found.ours, found.bare, found.exec].map(quantiles);
  return {
    rows: [
      ['a call', inWords(ours)],
      ['bare Bun in the same container', inWords(bare)],
      ['docker exec of Bun', inWords(exec)],
    ],
    aims: [
      { what: 'a call over bare Bun', value: ours.p50 - bare.p50, limit: AIM_OVER_BARE_MS, unit: 'ms' },
      { what: 'a call against docker exec', value: ours.p50 / exec.p50, limit: 1 / 8 },
    ],
    raw: { mcp: found },
  };
}

async function measureImports(server, quick) {
  const first = await timed(() => run(server, IMPORTED));
  const found = { plain: [], imported: [] };
  const count = quick ? 20 : 100;
  await interleave(
    {
      plain: async () => found.plain.push(...(await many(count, () => run(server, ONE)))),
      imported: async () => found.imported.push(...(await many(count, () => run(server, IMPORTED)))),
    },
    quick ? 1 : 3,
  );
  const [plain, imported] = [found.plain, found.imported].map(quantiles);
  return {
    rows: [
      ['the first import of a package', `${first.toFixed(0)} ms`],
      ['a call with an import that is there', inWords(imported)],
    ],
    aims: [{ what: 'a cached import over a call', value: imported.p50 - plain.p50, limit: AIM_IMPORT_MS, unit: 'ms' }],
    raw: { imports: found },
  };
}

async function measureSessions(server) {
  const names = Array.from({ length: AT_ONCE }, (_, index) => `session-${index}`);
  const started = await timed(() => Promise.all(names.map((name) => run(server, ONE, name))));
  const warm = await timed(() => Promise.all(names.map((name) => run(server, ONE, name))));
  for (const name of names) await server.client.callTool({ name: 'reset_session', arguments: { session_id: name } });
  return {
    rows: [
      [
        `${AT_ONCE} new sessions at once, and a call of each after that`,
        `${started.toFixed(0)} ms, ${warm.toFixed(0)} ms`,
      ],
    ],
    aims: [],
  };
}

async function measureMemory(server, quick) {
  const [warmUp, count] = [500, quick ? 500 : 5000];
  const many = async (total) => {
    const one = async (session) => {
      for (let index = 0; index < total / 4; index++) await run(server, ONE, session);
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(one));
  };
  await many(warmUp);
  const before = server.memory();
  await many(count);
  const after = server.memory();
  return {
    rows: [
      [
        `memory of the server, after ${warmUp} and ${count} more calls`,
        `${before.toFixed(0)} and ${after.toFixed(0)} MiB`,
      ],
    ],
    aims: [{ what: `memory after ${count} more calls`, value: after / before, limit: 1.2 }],
  };
}
