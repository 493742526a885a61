import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { loadConfig } from './load.ts';
import type { Config } from './schema.ts';

function configFile(text: string): string {
  const file = path.join(tempFolder(), 'config.yaml');
  writeFileSync(file, text);
  return file;
}

const load = (text: string): Promise<Config> => loadConfig(configFile(text));

async function problemsOf(text: string): Promise<readonly string[]> {
  const file = configFile(text);
  const error: unknown = await loadConfig(file).catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'CONFIG_INVALID', exit: 2, facts: { file } });
  return (error as { facts: { problems: readonly string[] } }).facts.problems;
}

const DEFAULTS: Config = {
  agent: 'claude',
  claude: { command: 'claude', args: [] },
  codex: { command: 'codex', args: [] },
  gemini: { command: 'gemini', args: [] },
  opencode: { command: 'opencode', args: [] },
  agents: {},
  workers: {
    count: 4,
    mode: 'auto',
    setup_timeout: 900_000,
    copy: [],
    task_timeout: 1_800_000,
    idle_timeout: 600_000,
    lease: 30_000,
    container: {
      memory: 4 * 1024 ** 3,
      cpus: 2,
      pids: 512,
      tmpfs: 1024 ** 3,
      snapshots: 10 * 1024 ** 3,
      verification: 'fresh-container',
      disk: 10 * 1024 ** 3,
      network: 'allowlist',
      allow: ['agent', 'npm'],
      env: [],
      mounts: [],
      caches: [],
    },
    setsContainer: false,
    asksForContainers: false,
  },
  retry: { attempts: 3, backoff: 30_000 },
  limits: {},
  prices: {},
  ownership: 'enforce',
  gates: [],
  hooks: { timeout: 60_000 },
  serve: {
    host: '127.0.0.1',
    port: 8000,
    cors: ['http://localhost:3000'],
    log_level: 'info',
    limits: {
      sessions: 32,
      warm: 1,
      idle: 1_800_000,
      cpus: 1,
      memory: 2 * 1024 ** 3,
      cache: 2 * 1024 ** 3,
      disk: 512 * 1024 ** 2,
      processes: 64,
      user_requests: 12_000,
      project_requests: 6000,
    },
    network: { allow: ['npm', 'pypi.org', 'files.pythonhosted.org', 'github.com'] },
    runtimes: {},
    languages: {
      python: { image: 'python:3.10-slim', extension: '.py', command: ['python', '-I', '{filepath}'] },
      ruby: { image: 'ruby:3.2-slim', extension: '.rb', command: ['ruby', '{filepath}'] },
    },
  },
  mcp: {
    cpus: 2,
    memory: 512 * 1024 ** 2,
    disk: 256 * 1024 ** 2,
    processes: 64,
    timeout: 30_000,
    longest_timeout: 600_000,
    output: 1024 ** 2,
    sessions: 8,
    idle: 1_800_000,
    packages: { folder: '~/.bun-runner-mcp/packages', disk: 5 * 1024 ** 3, allow_scripts: [] },
  },
};

describe('an empty configuration has all defaults', () => {
  it('when the file is missing', async () => {
    expect(await loadConfig(path.join(tempFolder(), 'config.yaml'))).toEqual(DEFAULTS);
  });

  it.each(['', '\n', '# a comment\n', '---\n', '{}\n', 'workers: {}\nclaude: {}\nretry: {}\n'])(
    'when it holds %j',
    async (text) => {
      expect(await load(text)).toEqual(DEFAULTS);
    },
  );
});

describe('a configuration', () => {
  it('gives no agent a name that Mahabharatha has for one of its own', async () => {
    expect(
      await problemsOf('agents: { codex: { command: [codex] }, shell: { command: [sh] }, mine: { command: [x] } }'),
    ).toEqual([
      'agents.codex: Mahabharatha knows an agent of this name itself; choose another name, or use the section "codex:"',
      'agents.shell: Mahabharatha knows an agent of this name itself; choose another name',
    ]);
  });

  it('is read with all its settings', async () => {
    const config = await load(`
agent: mine
claude: { model: opus, args: [--verbose] }
agents:
  mine: { command: [my-agent, "{prompt}"], prompt: argument }
workers: { count: 8, mode: subprocess, setup: npm ci, setup_timeout: 5m, copy: [".env*"], lease: 10 }
retry: { attempts: 1, backoff: 1s }
limits: { cost: 20, task_cost: 2.5, time: 8h }
prices: { mine: { input: 1, output: 5, cache_read: 0 } }
ownership: warn
hooks: { on_complete: ./tell.sh, timeout: 5s }
gates:
  - { name: build, command: npm run build }
  - { name: lint, command: npm run lint, required: false, timeout: 90 }
serve:
  port: 0
  limits: { memory: 256m, idle: 1m }
  runtimes: { ruby: { image: "ruby:3.2-slim", default_command: ruby main.rb } }
mcp: { base_image: debian, cpus: 1, output: 64k, timeout: 1m }
`);
    expect(config).toEqual({
      agent: 'mine',
      claude: { command: 'claude', model: 'opus', args: ['--verbose'] },
      codex: DEFAULTS.codex,
      gemini: DEFAULTS.gemini,
      opencode: DEFAULTS.opencode,
      agents: { mine: { command: ['my-agent', '{prompt}'], prompt: 'argument', env: [] } },
      workers: {
        ...DEFAULTS.workers,
        count: 8,
        mode: 'subprocess',
        setup: 'npm ci',
        setup_timeout: 300_000,
        copy: ['.env*'],
        lease: 10_000,
      },
      retry: { attempts: 1, backoff: 1000 },
      limits: { cost: 20, task_cost: 2.5, time: 28_800_000 },
      prices: { mine: { input: 1, output: 5, cache_read: 0 } },
      ownership: 'warn',
      hooks: { on_complete: './tell.sh', timeout: 5000 },
      gates: [
        { name: 'build', command: 'npm run build', required: true, timeout: 600_000 },
        { name: 'lint', command: 'npm run lint', required: false, timeout: 90_000 },
      ],
      serve: {
        ...DEFAULTS.serve,
        port: 0,
        limits: { ...DEFAULTS.serve.limits, memory: 256 * 1024 ** 2, idle: 60_000 },
        runtimes: { ruby: { image: 'ruby:3.2-slim', default_command: 'ruby main.rb' } },
      },
      mcp: { ...DEFAULTS.mcp, base_image: 'debian', cpus: 1, output: 64 * 1024, timeout: 60_000 },
    });
  });

  it('may change single settings of a default runtime or language', async () => {
    const { serve } = await load(`
serve:
  runtimes:
    node: { image: mine }
    python: { image: mine, default_command: pytest }
    shell: { default_command: make }
  languages: { python: { image: mine }, ruby: { command: [ruby, -W, "{filepath}"] } }
`);
    expect(serve.runtimes).toEqual({
      node: {
        image: 'mine',
        setup: 'npm install',
        setup_files: ['package.json', 'package-lock.json'],
        default_command: 'npm test',
        needs: 'package.json',
      },
      python: { image: 'mine', default_command: 'pytest' },
      shell: { image: 'ubuntu:22.04', default_command: 'make' },
    });
    expect(serve.languages).toEqual({
      python: { image: 'mine', extension: '.py', command: ['python', '-I', '{filepath}'] },
      ruby: { image: 'ruby:3.2-slim', extension: '.rb', command: ['ruby', '-W', '{filepath}'] },
    });
  });

  it('names all of a runtime or a language that is no default one', async () => {
    const text = 'serve: { runtimes: { go: { image: mine } }, languages: { go: { image: mine } } }';
    expect(await problemsOf(text)).toEqual([
      'serve.runtimes.go.default_command: is missing; it must be text',
      'serve.languages.go.extension: is missing; it must be text',
      'serve.languages.go.command: is missing; it must be a list',
    ]);
  });

  it('with several errors is refused with all of them, each with its place', async () => {
    const problems = await problemsOf(`
agent: ""
nonsense: 1
agents:
  "2bad": { command: [x] }
  empty: { command: [] }
workers: { count: 0, mode: cloud, task_timeout: soon, lease: true, setups: npm ci }
gates:
  - { name: build }
  - { name: lint, command: npm run lint, timeout: -1 }
`);
    expect(new Set(problems.map((problem) => problem.split(':')[0]))).toEqual(
      new Set([
        'agent',
        'agents.2bad',
        'agents.empty.command',
        'gates[0].command',
        'gates[1].timeout',
        'nonsense',
        'workers.count',
        'workers.lease',
        'workers.mode',
        'workers.setups',
        'workers.task_timeout',
      ]),
    );
    expect(problems).toContain('nonsense: there is no such setting');
    expect(problems).toContain('workers.setups: there is no such setting; did you mean "setup"?');
    for (const place of ['workers.task_timeout', 'workers.lease', 'gates[1].timeout']) {
      expect(problems).toContain(`${place}: not a duration: use seconds (90) or "90s", "15m", "2h"`);
    }
  });

  it.each(['just text', '- a\n- list\n', '42'])('without keys is refused: %j', async (text) => {
    const [problem, ...others] = await problemsOf(text);
    expect(problem).toMatch(/^the whole file: /);
    expect(others).toEqual([]);
  });

  it('that is not YAML is refused with the line', async () => {
    expect(await problemsOf('agent: claude\nworkers:\n  count: [1\nretry: {}\n')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^line 4, column \d+: .+/)]),
    );
    expect(await problemsOf('agent: a\nagent: b\n')).toEqual([expect.stringMatching(/^line 2, column 1: .*unique/)]);
    expect(await problemsOf('agent: a\n---\nagent: b\n')).toHaveLength(1);
  });

  it('with an alias of nothing, or with too many aliases, is refused, too', async () => {
    expect(await problemsOf('agent: *nothing\n')).toEqual([expect.stringMatching(/nothing/)]);
    const doubled = Array.from({ length: 12 }, (_, n) => `a${n + 1}: &a${n + 1} [*a${n}, *a${n}, *a${n}]`).join('\n');
    expect(await problemsOf(`a0: &a0 [x]\n${doubled}\n`)).toEqual([expect.stringMatching(/alias/i)]);
  });

  it('has no two gates of one name', async () => {
    const gates = ['build', 'lint', 'build', 'lint', 'build'].map((name) => `  - { name: ${name}, command: x }\n`);
    const text = `gates:\n${gates.join('')}`;
    expect(await problemsOf(text)).toEqual(
      [
        [2, 'build'],
        [3, 'lint'],
        [4, 'build'],
      ].map(([index, name]) => `gates[${index}].name: "${name}" is already the name of another gate`),
    );
  });

  it.each([
    ['"a\\nb"', String.raw`"a\nb"`],
    ['"\\e[2J"', String.raw`"\u001b[2J"`],
    ['"te\\u200Bst"', String.raw`"te\u200bst"`],
    ['"\\u202Etset"', String.raw`"\u202etset"`],
    ['"test "', '"test "'],
  ])('with a gate that is named %s is refused', async (name, shown) => {
    expect(await problemsOf(`gates: [{ name: ${name}, command: x }]`)).toEqual([
      `gates[0].name: ${shown} has line ends, invisible characters or blanks at its ends`,
    ]);
  });

  it('may have gates with names in any language', async () => {
    expect(await load('gates: [{ name: "Prüfung 日本 ✓", command: x }]')).toMatchObject({
      gates: [{ name: 'Prüfung 日本 ✓' }],
    });
  });

  it.each([
    ['workers: { count: 0 }', 'workers.count: must be 1 or more, and is 0'],
    ['workers: { count: 65 }', 'workers.count: must be 64 or less, and is 65'],
    ['workers: { count: 1.5 }', 'workers.count: expected a whole number, got the number 1.5'],
    ['workers: { count: four }', 'workers.count: expected a number, got the text "four"'],
    [
      'workers: { mode: cloud }',
      'workers.mode: expected one of "auto", "subprocess", "container"; got the text "cloud"',
    ],
    ['workers: { setup: "" }', 'workers.setup: is empty'],
    ['workers: []', 'workers: expected an object, got a list'],
    ['gates: [{ name: x }]', 'gates[0].command: is missing; it must be text'],
    ['agents: { 2x: { command: [a] } }', 'agents.2x: a name has letters, digits, dashes and underscores'],
  ])('with a wrong value says what is expected there: %s', async (text, problem) => {
    expect(await problemsOf(text)).toEqual([problem]);
  });

  it('with too many gates says how many there may be', async () => {
    const gates = Array.from({ length: 51 }, (_, index) => `  - { name: g${index}, command: x }\n`).join('');
    expect(await problemsOf(`gates:\n${gates}`)).toEqual(['gates: may have 50 entries at most']);
  });

  it('that cannot be read does not count as missing', async () => {
    const file = path.join(tempFolder(), 'config.yaml');
    mkdirSync(file);
    await expect(loadConfig(file)).rejects.toMatchObject({ code: 'FILE_UNREADABLE', facts: { file }, exit: 4 });
  });
});
