import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import type { Answer } from '../support/model-messages.ts';
import { scriptByTask, startModelServer } from '../support/model-server.ts';
import type { ModelServer, Reply } from '../support/model-server.ts';
import { waitFor } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Random, so that whatever looks like it is it. */
const SECRET = `sk-ant-made-up-${randomUUID()}`;
/** Ports on which something listens in this container, in hexadecimal digits. */
const LISTENING = `awk '$4 == "0A" { sub(".*:", "", $2); print $2 }' /proc/net/tcp`;
const PROXY_PORT = '0C38';

const bash = (command: string): Answer => ({ toolUse: { name: 'Bash', input: { command, description: 'Do it' } } });

describe.skipIf(docker.why !== '')(`credentials that stay outside the containers${whySkipped}`, () => {
  let project: ContainerProject;
  let server: ModelServer;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    live?.child.kill();
    await live?.end;
    live = undefined;
    await server.close();
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  async function prepare(replies: Readonly<Record<string, readonly Reply[]>>, container: string): Promise<void> {
    server = await startModelServer(scriptByTask(replies), { host: bridgeAddress() });
    project = await createContainerProject({
      env: { ANTHROPIC_BASE_URL: server.url, CLAUDE_CODE_MAX_RETRIES: '10', ANTHROPIC_API_KEY: SECRET },
      container,
    });
  }

  const show = (file: string): string => project.git('show', `mahabharatha/login/integration:${file}`);

  it('have a way in only while an agent works: not in a task with a command, and not in a verification', async () => {
    // What the agent leaves running cannot go on asking either.
    const left = '(setsid bash -c "while :; do sleep 1; done" > /dev/null 2>&1 &)';
    const agent = bash(`${LISTENING} > A.txt; env | grep -c "$ANTHROPIC_BASE_URL" >> A.txt; ${left}`);
    await prepare({ A: [agent, { text: 'Done.' }] }, 'network: allowlist\nallow: []\ncredentials: inject');
    const alone = `test "$(${LISTENING})" = ${PROXY_PORT}`;
    await project.graph('login', [
      { id: 'R', level: 1, create: ['R.txt'], run: `(${LISTENING}; env) > R.txt` },
      { id: 'A', level: 2, dependencies: ['R'], create: ['A.txt'], verify: alone },
    ]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout + stderr).toBe(0);
    expect(show('R.txt')).toMatch(new RegExp(`^${PROXY_PORT}\n[^]*ANTHROPIC_BASE_URL=${server.url}`));
    expect(show('R.txt')).not.toContain('ANTHROPIC_API_KEY');
    const ports = show('A.txt').trim().split('\n').slice(0, -1);
    expect(ports).toHaveLength(2);
    expect(ports).toContain(PROXY_PORT);
    for (const { headers } of server.requests) expect(headers['x-api-key']).toBe(SECRET);
  });

  it('are there again when the egress proxy was killed: the agent goes on', async () => {
    const door = new EventEmitter();
    const held = once(door, 'open').then((): Answer => ({ text: 'Done.' }));
    await prepare({ A: [bash('echo alpha > A.txt'), held] }, 'network: allowlist\nallow: []');
    await project.graph('login', [{ id: 'A', create: ['A.txt'] }]);
    live = project.start('kurukshetra', '--workers', '1');
    await waitFor('the agent has written its file', () => {
      if (live?.child.exitCode !== null) throw new Error(live?.output());
      return server.requests.length >= 2;
    });
    const proxy = project.containers().find(({ Config }) => Config.Labels['mahabharatha.role'] === 'egress');
    execFileSync('docker', ['kill', proxy?.Id ?? '']);
    door.emit('open');
    const { exit, stdout, stderr } = await live.end;
    expect(exit, stdout + stderr).toBe(0);
    expect(show('A.txt')).toBe('alpha\n');
    // It has asked once more, by the new proxy.
    expect(server.requests.length).toBeGreaterThan(2);
    for (const { headers } of server.requests) expect(headers['x-api-key']).toBe(SECRET);
  });

  it('stop the run when the server refuses them', async () => {
    const refused = { status: 401, body: { error: { type: 'authentication_error', message: `no: ${SECRET}` } } };
    await prepare({ A: Array.from({ length: 20 }, () => refused) }, 'network: allowlist\nallow: []');
    project.env['CLAUDE_CODE_MAX_RETRIES'] = '1';
    await project.graph('login', [{ id: 'A', create: ['A.txt'] }]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout + stderr).toBe(4);
    expect(stdout + stderr).toMatch(/credentials/);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('are not handed over where they were to stay outside and cannot: nothing starts, and the reason is told', async () => {
    await prepare({}, 'network: none\ncredentials: inject');
    await project.graph('login', [{ id: 'A', create: ['A.txt'] }]);
    for (const args of [[], ['--dry-run']]) {
      const { exit, stderr } = await project.cli('kurukshetra', ...args);
      expect([exit, stderr]).toEqual([
        2,
        expect.stringMatching(/cannot be kept out of the containers.*"network: none"/),
      ]);
    }
    await project.config('workers: { mode: container, container: { credentials: inject } }\n');
    delete project.env['ANTHROPIC_API_KEY'];
    const folder = path.join(project.env['HOME'] ?? '', '.claude');
    mkdirSync(folder, { recursive: true });
    const login = JSON.stringify({ claudeAiOauth: { accessToken: SECRET } });
    writeFileSync(path.join(folder, '.credentials.json'), login);
    const { exit, stderr } = await project.cli('kurukshetra');
    expect([exit, stderr]).toEqual([2, expect.stringMatching(/the login in .*\.credentials\.json[^]*setup-token/)]);
    expect(stderr).not.toContain(SECRET);
  });
});
