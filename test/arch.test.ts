import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CRUISER = path.join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');

interface Report {
  readonly summary: { readonly totalCruised: number; readonly violations: { rule: { name: string }; from: string }[] };
}

function cruise(folder: string): Promise<Report> {
  return new Promise((resolve, reject) => {
    const args = [CRUISER, '--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'src'];
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      if (stdout === '') reject(error ?? new Error('dependency-cruiser printed nothing'));
      else resolve(JSON.parse(stdout) as Report);
    });
  });
}

const { forbidden } = createRequire(import.meta.url)('../.dependency-cruiser.cjs') as {
  readonly forbidden: readonly { readonly name: string }[];
};
const RULE_NAMES = forbidden.map(({ name }) => name);
/** Folders that have a rank, those that are still to come included. */
const ROOMS = RULE_NAMES.flatMap((name) => /^rank\/(.*)/.exec(name)?.[1] ?? []);

const WORKER = "import '../worker/context.ts';";
const HOST = "import '../launchers/index.ts';";
const RULES = "import '../rules/index.ts';";
const DEEP = "import '../target/address.ts';";

type Planted = readonly [what: string, file: string, line: string, rule: string];

/** Into each room the CLI, which is above all, and into the CLI a file of each room that is not its door. */
const IN_ALL_ROOMS: readonly Planted[] = ROOMS.filter((room) => room !== 'cli').flatMap((room): Planted[] => {
  const up = room.includes('/') ? '../..' : '..';
  const above: Planted = [
    `the CLI in ${room}`,
    `src/${room}/planted.ts`,
    `import '${up}/cli/command.ts';`,
    `rank/${room}`,
  ];
  const deep = `import '../${room}/planted.ts';`;
  return room === 'lib'
    ? [above]
    : [above, [`the CLI past the door of ${room}`, 'src/cli/planted.ts', deep, `door/${room}`]];
});

/** One violation each, planted into a copy of the source. */
const PLANTED: readonly Planted[] = [
  ...IN_ALL_ROOMS,
  ['a folder without a rank', 'src/new/index.ts', "import '../lib/index.ts';", 'folders-have-a-rank'],
  ['a folder without a rank in the CLI', 'src/cli/planted.ts', "import '../new/index.ts';", 'rank/cli'],
  ['the CLI past its door', 'src/project/planted.ts', "import '../cli/program.ts';", 'door/cli'],
  ['a file that is not there', 'src/git/planted.ts', "import './no-such-file.ts';", 'resolvable'],
  ['the HTTP server in sandboxes', 'src/sandbox/planted.ts', "import 'fastify';", 'vendor/fastify'],
  ['the log of the server in sandboxes', 'src/sandbox/planted.ts', "import 'pino';", 'vendor/pino'],
  [
    'the log of the server in sandboxes',
    'src/sandbox/planted.ts',
    "import '@modelcontextprotocol/server';",
    'vendor/@modelcontextprotocol',
  ],
  ['the stripper of types in the server', 'src/mcp/planted.ts', "import '@swc/wasm-typescript';", 'vendor/@swc'],
  ['the editor of the page in the server', 'src/http/planted.ts', "import '@codemirror/view';", 'vendor/@codemirror'],
  ['the terminal of the page in the server', 'src/http/planted.ts', "import '@xterm/xterm';", 'vendor/@xterm'],
  ['web sockets in sandboxes', 'src/sandbox/planted.ts', "import 'ws';", 'vendor/ws'],
  [
    'widths of letters in the project',
    'src/project/planted.ts',
    "import 'get-east-asian-width';",
    'vendor/get-east-asian-width',
  ],
  ['the parser of command lines in the project', 'src/project/planted.ts', "import 'commander';", 'vendor/commander'],
  ['one server in the other', 'src/http/planted.ts', "import '../mcp/planted.ts';", 'rank/http'],
  ['sandboxes in planning', 'src/planning/planted.ts', "import '../sandbox/planted.ts';", 'rank/planning'],
  ['launchers in snapshots', 'src/snapshots/planted.ts', "import '../launchers/index.ts';", 'rank/snapshots'],
  [
    'the host in the agent of a sandbox',
    'src/sandbox-agent/planted.ts',
    "import '../containers/index.ts';",
    'container-side',
  ],
  ['an import upwards', 'src/tasks/graph.ts', "import '../orchestrator/index.ts';", 'rank/tasks'],
  [
    'a type import upwards',
    'src/git/merge.ts',
    "import type { Ports as X } from '../orchestrator/index.ts';\nexport type Y = X;",
    'rank/git',
  ],
  ['an import sideways', 'src/git/merge.ts', "import '../state/index.ts';", 'rank/git'],
  ['the CLI in what a server shares with it', 'src/project/wire.ts', "import '../cli/command.ts';", 'rank/project'],
  ['a room of the project past its door', 'src/cli/program.ts', "import '../project/wire.ts';", 'door/project'],
  ['a cycle inside a folder', 'src/state/paths.ts', "import './file-store.ts';", 'no-circular'],
  ['a vendor package outside its home', 'src/orchestrator/loop.ts', "import 'yaml';", 'vendor/yaml'],
  ['a vendor package by dynamic import', 'src/orchestrator/loop.ts', "await import('commander');", 'vendor/commander'],
  ['an import past the door', 'src/project/wire.ts', "import '../git/merge.ts';", 'door/git'],
  [
    'an adapter as a value in the orchestrator',
    'src/orchestrator/loop.ts',
    "import { openStore } from '../state/index.ts';\nvoid openStore;",
    'ports-are-types',
  ],
  ['I/O in a decision', 'src/orchestrator/decide.ts', "import 'node:fs';", 'pure'],
  ['I/O beside the error codes of a room', 'src/git/errors.ts', "import 'node:os';", 'pure'],
  ['a package that is bundled in a decision', 'src/orchestrator/decide-end.ts', "import 'commander';", 'pure'],
  ['I/O in a decision by way of lib', 'src/orchestrator/decide.ts', "import '../lib/index.ts';", 'pure-local'],
  ['a worker in the supervision of jobs', 'src/supervise/memory.ts', WORKER, 'rank/supervise'],
  ['host code in the supervision of jobs', 'src/supervise/memory.ts', HOST, 'container-side'],
  ['host code in the worker', 'src/worker/attempt.ts', "import '../launchers/index.ts';", 'container-side'],
  ['egress rules, which are host code, in the proxy', 'src/egress/proxy/dial.ts', RULES, 'container-side'],
  ['egress rules, which are host code, in the door', 'src/egress/door/door.ts', RULES, 'container-side'],
  ['all of zod in the worker', 'src/worker/attempt.ts', "import 'zod';", 'small-zod'],
  ['all of zod in what workers read', 'src/protocol/boot.ts', "import 'zod';", 'small-zod'],
  ['the egress proxy in the door', 'src/egress/door/door.ts', "import '../proxy/dial.ts';", 'rank/egress/door'],
  ['the door in the egress proxy', 'src/egress/proxy/dial.ts', "import '../door/index.ts';", 'rank/egress/proxy'],
  ['the egress proxy in the rules', 'src/egress/rules/presets.ts', "import '../proxy/dial.ts';", 'rank/egress/rules'],
  ['a room of egress in what they share', 'src/egress/target/address.ts', RULES, 'rank/egress/target'],
  ['I/O in what the rooms of egress share', 'src/egress/target/target.ts', "import 'node:fs';", 'pure/egress/target'],
  ['an import past the door of a room within egress', 'src/egress/proxy/dial.ts', DEEP, 'door/egress/target'],
  ['a file without users', 'src/lib/unused.ts', 'export const unused = 1;', 'no-orphans'],
  ['source that imports a test', 'src/logs/lines.ts', "import '../../test/support/project.ts';", 'src-not-to-test'],
  ['processes started elsewhere', 'src/git/merge.ts', "import 'node:child_process';", 'processes-have-one-home'],
];

describe('the import rules', () => {
  let copy: string;

  beforeAll(async () => {
    copy = await mkdtemp(path.join(tmpdir(), 'mahabharatha-arch-'));
    for (const name of ['.dependency-cruiser.cjs', 'tsconfig.json', 'package.json'])
      await cp(path.join(ROOT, name), path.join(copy, name));
    await mkdir(path.join(copy, 'test/support'), { recursive: true });
    await writeFile(path.join(copy, 'test/support/project.ts'), 'export {};\n');
    await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it('hold in the whole tree, and the checker has read all of it', async () => {
    const { summary } = await cruise(ROOT);
    expect(summary.violations.map(({ rule, from }) => `${rule.name}: ${from}`)).toEqual([]);
    // With a compiler that it does not support the checker reads no file and reports no violation.
    expect(summary.totalCruised).toBeGreaterThan(100);
  });

  it('catch every kind of violation, planted all at once', async () => {
    await cp(path.join(ROOT, 'src'), path.join(copy, 'src'), { recursive: true });
    const lines = new Map<string, string[]>();
    for (const [, file, line] of PLANTED) lines.set(file, [...(lines.get(file) ?? []), line]);
    for (const [file, planted] of lines) {
      await mkdir(path.dirname(path.join(copy, file)), { recursive: true });
      await writeFile(path.join(copy, file), `${planted.join('\n')}\n`, { flag: 'a' });
    }
    const { summary } = await cruise(copy);
    const caught = new Set(summary.violations.map(({ rule, from }) => `${rule.name} in ${from}`));
    const missed = PLANTED.filter(([, file, , rule]) => !caught.has(`${rule} in ${file}`)).map(([what]) => what);
    // A cycle is reported once, at any of its files.
    const cycle = [...caught].some((name) => name.startsWith('no-circular in src/state/'));
    expect(missed.filter((what) => !(cycle && what === 'a cycle inside a folder'))).toEqual([]);
    expect(RULE_NAMES.filter((name) => !PLANTED.some(([, , , rule]) => rule === name))).toEqual([]);
  });
});

it('in the CLI only the entrypoint writes to stdout and stderr, and the project prints nothing', async () => {
  const rooms = await Promise.all(
    ['src/cli', 'src/project'].map(async (room) => {
      const names = await readdir(path.join(ROOT, room), { recursive: true });
      return names.map((name) => path.join(room, name));
    }),
  );
  const sources = rooms.flat().filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const writers = await Promise.all(
    sources.map(async (name) => {
      const text = await readFile(path.join(ROOT, name), 'utf8');
      return /\b(stdout|stderr)\.write\b|\bconsole\./.test(text) ? [name] : [];
    }),
  );
  expect(writers.flat()).toEqual(['src/cli/main.ts']);
});
