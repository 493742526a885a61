import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { HUNT } from '../support/credential-hunt.ts';
import type { Answer } from '../support/model-messages.ts';
import { scriptByTask, startModelServer } from '../support/model-server.ts';
import type { ModelServer, Reply } from '../support/model-server.ts';
import { waitFor } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const HOUR_MS = 3_600_000;
/** Random, so that whatever looks like one is one. */
const SECRET = `sk-ant-made-up-${randomUUID()}`;
const [KEY, BEARER] = [
  { key: SECRET, bearer: undefined },
  { key: undefined, bearer: `Bearer ${SECRET}` },
];
const REFRESH = `sk-ant-ort-made-up-${randomUUID()}`;

/** Whatever an agent could think of to get at its own credential. */
const PEEK = [
  `cat > /tmp/hunt.mjs << 'END'${HUNT}END\n`,
  'grep -rIhoE "sk-ant-made[-]up-[0-9a-f-]{36}" /run /tmp /home /workspace /gitdir /etc /opt/mahabharatha 2> /dev/null; node /tmp/hunt.mjs',
  'env',
  'tr "\\\\0" "\\\\n" < /proc/$PPID/environ',
  'for f in /proc/[0-9]*/environ; do tr "\\\\0" "\\\\n" < $f; done',
  'cat "$CLAUDE_CONFIG_DIR/.credentials.json" /home/worker/.agent-*/.credentials.json',
].join('\n');

const complaint = (message: string): unknown => ({ type: 'error', error: { type: 'invalid_request_error', message } });
const bash = (command: string): Answer => ({ toolUse: { name: 'Bash', input: { command, description: 'Do it' } } });

describe.skipIf(docker.why !== '')(`features built by the real Claude Code in containers${whySkipped}`, () => {
  let project: ContainerProject;
  let server: ModelServer;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    // After a test that has failed it may still be there.
    live?.child.kill();
    await live?.end;
    await server.close();
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  /** One task looks for its credential and tells it; the answer after that comes when the returned function is called. */
  async function prepare(env: NodeJS.ProcessEnv, settings = ''): Promise<() => void> {
    const door = new EventEmitter();
    const held = once(door, 'open');
    const text = `My credential is ${SECRET}.`;
    const replies: Record<string, Reply[]> = {
      'L1-a': [{ ...bash(`${PEEK}\necho alpha > a.txt`), text }, held.then(() => ({ text }))],
      'L1-b': [bash('echo beta > b.txt'), { text: 'Written.' }],
      // What a server complains of is in the state, and in the prompt of the next attempt.
      'L2-all': [{ status: 400, body: complaint(text) }, bash('cat a.txt b.txt > all.txt'), { text }],
    };
    server = await startModelServer(scriptByTask(replies), { host: bridgeAddress() });
    project = await createContainerProject({
      env: { ANTHROPIC_BASE_URL: server.url, CLAUDE_CODE_MAX_RETRIES: '10', ...env },
      container: `network: allowlist\nallow: []\n${settings}`,
    });
    await project.graph('login', [
      { id: 'L1-a', level: 1, create: ['a.txt'], verify: 'grep -q alpha a.txt' },
      { id: 'L1-b', level: 1, create: ['b.txt'] },
      { id: 'L2-all', level: 2, dependencies: ['L1-a', 'L1-b'], create: ['all.txt'] },
    ]);
    return () => void door.emit('open');
  }

  async function writeLogin(): Promise<void> {
    const folder = path.join(project.env['HOME'] ?? '', '.claude');
    await mkdir(folder);
    const login = {
      accessToken: SECRET,
      refreshToken: REFRESH,
      expiresAt: Date.now() + HOUR_MS,
      scopes: ['user:inference'],
    };
    await writeFile(path.join(folder, '.credentials.json'), JSON.stringify({ claudeAiOauth: login }), { mode: 0o600 });
  }

  it.each([
    ['TC-008 with an API key', { ANTHROPIC_API_KEY: SECRET }, 'inject', KEY],
    ['with the token of a gateway', { ANTHROPIC_AUTH_TOKEN: SECRET }, 'inject', BEARER],
    ['TC-007 with a long-lived token', { CLAUDE_CODE_OAUTH_TOKEN: SECRET }, 'inject', BEARER],
    ['with a key that the agent gets by order', { ANTHROPIC_API_KEY: SECRET }, 'handover', KEY],
    ['TC-007 with the login of the user', {}, 'handover', BEARER],
  ] as const)('%s they are complete; only the server sees the credentials', async (_, env, way, shown) => {
    const ordered = way === 'handover' && 'ANTHROPIC_API_KEY' in env;
    const goOn = await prepare(env, ordered ? 'credentials: handover' : '');
    const told = way === 'inject' ? `My credential is ${'*'.repeat(SECRET.length)}.` : 'My credential is [redacted].';
    if (Object.keys(env).length === 0) await writeLogin();
    live = project.start('kurukshetra', '--workers', '2');
    const looked = (): boolean => {
      if (live?.child.exitCode !== null) throw new Error(live?.output());
      return printedByTools(server).includes('CLAUDE_CODE_MAX_RETRIES=10');
    };
    await waitFor('the agent has looked for its credential', looked);
    const seenByOthers = whileItRuns(project, told);
    const filesBefore = await allFiles(path.join(project.folder, '.mahabharatha'));
    goOn();
    const { exit, stdout, stderr } = await live.end;

    expect(stdout).toContain('3 of 3 tasks are merged');
    expect(exit).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:all.txt')).toBe('alpha\nbeta\n');
    expect(server.requests.length).toBeGreaterThanOrEqual(7);
    for (const { headers } of [...server.requests, ...server.sideRequests]) {
      expect({ key: headers['x-api-key'], bearer: headers.authorization }).toEqual(shown);
    }
    // Where it gets the credential it does find it: that it is nowhere else is not for want of trying.
    expect(printedByTools(server).includes(SECRET)).toBe(way === 'handover');
    expect(printedByTools(server)).toContain('HUNTED');
    expect(stdout).toContain(`\n  credentials ${way}: `);
    const logs = await project.cli('logs', '--tail', 'all');
    expect(logs.stdout).toContain(told);
    const filesAfter = await allFiles(path.join(project.folder, '.mahabharatha'));
    expect((await project.state()).tasks['L2-all']?.attempts[0]?.detail).toContain(told);
    const said = { stdout, stderr, logs: logs.stdout };
    const places: Record<string, string> = { ...seenByOthers, ...filesBefore, ...filesAfter, ...said };
    for (const secret of [SECRET, REFRESH]) {
      expect(Object.keys(places).filter((place) => places[place]?.includes(secret))).toEqual([]);
    }
    expect(JSON.stringify(server.requests)).not.toContain(REFRESH);
  });

  it('end at the cap on the cost in the middle of a session, keep their work, and are done with a higher cap', async () => {
    const replies: Reply[] = [
      bash('echo half > a.txt'),
      bash('sleep 600'),
      bash('echo whole > a.txt'),
      { text: 'Done.' },
    ];
    server = await startModelServer(scriptByTask({ 'T-1': replies }), { host: bridgeAddress() });
    project = await createContainerProject({
      env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: SECRET },
      container: 'network: allowlist\nallow: []',
    });
    // The model server tells 100 tokens of input for each answer: one dollar.
    const prices = 'prices: { claude: { input: 10000, output: 0, cache_read: 0, cache_write: 0 } }';
    await project.config(`${await project.read('.mahabharatha/config.yaml')}${prices}\n`);
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], verify: 'test -s a.txt' }]);

    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1', '--max-cost', '1.50');

    expect(exit, stdout).toBe(3);
    expect(stdout).toContain('run paused: cost $2.00, cap $1.50');
    const { tasks } = await project.state();
    expect(tasks['T-1']).toMatchObject({
      status: 'pending',
      failures: 0,
      losses: 0,
      attempts: [{ outcome: 'interrupted' }],
    });
    expect(project.git('show', `${tasks['T-1']?.attempts[0]?.commit}:a.txt`)).toBe('half\n');

    const more = await project.cli('kurukshetra', '--resume', '--max-cost', '10');

    expect(more.exit, more.stdout).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:a.txt')).toBe('whole\n');
    expect((await project.state()).cost.costUsd).toBe(4);
  });

  it('stop with exit 4 when the key is refused, before Claude Code has tried it ten times', async () => {
    const refused = Array.from({ length: 5 }, () => ({ status: 401 }));
    server = await startModelServer(scriptByTask({ 'T-1': refused, 'T-2': refused }), { host: bridgeAddress() });
    project = await createContainerProject({
      env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: SECRET },
      container: 'network: allowlist\nallow: []',
    });
    await project.graph(
      'login',
      ['T-1', 'T-2'].map((id) => ({ id, create: [`${id}.txt`] })),
    );

    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');

    expect(exit, stdout).toBe(4);
    expect(stdout).toContain("stopped — the agent's credentials were refused");
    const { tasks } = await project.state();
    expect(Object.values(tasks).map(({ attempts, failures }) => [attempts.length, failures])).toEqual([
      [1, 0],
      [0, 0],
    ]);
  });

  it('report at once, and once, that their model cannot be reached, and name it at the end', async () => {
    server = await startModelServer([]);
    project = await createContainerProject({
      env: {
        ANTHROPIC_BASE_URL: 'https://nowhere.invalid',
        ANTHROPIC_API_KEY: SECRET,
        CLAUDE_CODE_MAX_RETRIES: '2',
      },
      container: 'network: allowlist\nallow: []',
    });
    await project.config(`${await project.read('.mahabharatha/config.yaml')}retry: { attempts: 1 }\n`);
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'] }]);

    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');

    expect(exit).toBe(1);
    expect(stdout.match(/T-1 waits, says worker 0: .*/g)).toEqual([
      'T-1 waits, says worker 0: the model cannot be reached (502 server_error); Claude Code tries again',
    ]);
    expect(stdout).not.toContain('T-1 goes on');
    expect(stdout).toMatch(
      / {2}network {2}\d+ requests are allowed, but their target could not be reached: nowhere\.invalid:443 \(/,
    );
  });
});

const isResult = ({ type }: { type: string }): boolean => type === 'tool_result';

/** What the model got to see of this machine. */
function printedByTools({ requests }: ModelServer): string {
  const contents = requests.flatMap(({ messages }) => messages.map(({ content }) => content));
  const results = contents.flatMap((content) => (typeof content === 'string' ? [] : content.filter(isResult)));
  return JSON.stringify(results);
}

/** Of a container that goes just now, as that of the other task, or that does not run yet, there is nothing to see. */
const askDocker = (...args: string[]): string => spawnSync('docker', args, { encoding: 'utf8' }).stdout;

/** What other users of this machine and of its engine get to see: by place. */
function whileItRuns(project: ContainerProject, told: string): Record<string, string> {
  const containers = [...project.containers(), ...project.spares()];
  const roles = containers.map(({ Config }) => Config.Labels['mahabharatha.role']);
  expect(roles).toEqual(expect.arrayContaining(['egress', 'worker']));
  const ofContainers = containers.flatMap((container) => {
    const id = container.Id;
    return [
      [`inspect of ${container.Name}`, JSON.stringify(container)],
      [`top of ${container.Name}`, askDocker('top', id, '-eo', 'pid,args')],
      [`logs of ${container.Name}`, askDocker('logs', id)],
    ] as const;
  });
  const processes = execFileSync('bash', ['-c', 'cat /proc/[0-9]*/cmdline 2> /dev/null | tr "\\0" " "; true'], {
    encoding: 'utf8',
  });
  const seen = Object.fromEntries([...ofContainers, ['process list', processes] as const]);
  const worker = containers.find(({ Name }) => Name.startsWith('/mahabharatha-worker-0'));
  expect(seen[`top of ${worker?.Name}`]).toContain('claude --print');
  expect(seen[`logs of ${worker?.Name}`]).toContain(told);
  expect(processes).toContain('claude --print');
  return seen;
}

async function allFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(file, 'latin1').catch(() => '')] as const),
  );
  return Object.fromEntries(texts);
}
