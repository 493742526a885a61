import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildOpenImage } from '../support/open-image.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const SECRET = 'a-secret-"that"-to-be-kept-out';
const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

/** Asks the way out for a place, as any client does. */
const ask = (...targets: string[]): string =>
  targets
    .map(
      (target) => `exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT ${target} HTTP/1.1\\r\\n\\r\\n" >&3; head -1 <&3`,
    )
    .join('; ');

describe.skipIf(docker.why !== '')(`the logs of containers${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  const kept = (worker: number): Promise<string> =>
    readFile(path.join(project.folder, '.mahabharatha', 'logs', 'login', `worker-${worker}.jsonl`), 'utf8');

  it('are the same as those of the engine, without secrets, and stay when the container is removed', async () => {
    project = await createContainerProject({ env: { THE_KEY: SECRET } });
    const config = await project.read('.mahabharatha/config.yaml');
    await project.config(
      `${config}agent: own\nagents: { own: { command: [bash, /workspace/agent.sh], env: [THE_KEY] } }\n`,
    );
    const go = '/run/mahabharatha/inbox/go';
    await project.write(
      'agent.sh',
      `echo "the key is $THE_KEY"; printf '{"key":"%s"}\\n' '${SECRET}' >&2; echo now; until [ -e ${go} ]; do sleep 0.05; done; echo a > a.txt`,
    );
    project.commit('an agent');
    await project.graph('login', [{ id: 'A', create: ['a.txt'], verify: 'test -s a.txt' }]);
    const live = project.start('kurukshetra', '--workers', '1');
    // What comes on stderr has a way of its own.
    const spoken = ['"text":"now"', '\\"key\\"'];
    await waitUntil('the agent has spoken', async () => {
      const log = await kept(0).catch(() => '');
      return spoken.every((words) => log.includes(words));
    });
    const [container] = project.containers();
    const engines = execFileSync('docker', ['logs', container?.Id ?? ''], { encoding: 'utf8', stdio: 'pipe' });
    expect(lines(engines)).toEqual(lines(await kept(0)));
    const shown = await project.cli('logs', '0', '--json', '--tail', 'all');
    expect(lines(shown.stdout)).toEqual(lines(engines));
    expect(container?.HostConfig['LogConfig']).toEqual({
      Type: 'json-file',
      Config: { 'max-file': '2', 'max-size': '10485760' },
    });
    await writeFile(project.inWorkers('login', '0', 'inbox', 'go'), '');
    const { exit, stdout } = await live.end;
    expect(exit, stdout).toBe(0);
    const afterwards = await kept(0);
    expect(afterwards.startsWith(engines)).toBe(true);
    expect(afterwards).toContain('the key is [redacted]');
    expect(JSON.stringify([afterwards, engines, await project.events()])).not.toContain('to-be-kept-out');
    expect((await project.cli('logs', '--task', 'A')).stdout).toContain('A ends: verified');
  });

  it('and events and state have no secrets that are names of files', async () => {
    project = await createContainerProject({ env: { THE_KEY: SECRET } });
    const config = await project.read('.mahabharatha/config.yaml');
    await project.config(
      `${config}retry: { attempts: 1 }\nagent: own\nagents: { own: { command: [bash, /workspace/agent.sh], env: [THE_KEY] } }\n`,
    );
    await project.write('agent.sh', 'mkdir keys; echo a | tee a.txt > "keys/$THE_KEY"; git add --force keys\n');
    project.commit('an agent');
    await project.graph('login', [{ id: 'A', create: ['a.txt'] }]);

    const run = await project.cli('kurukshetra', '--workers', '1', '--json');

    expect(run.exit, run.stdout).toBe(1);
    const told = 'changed 1 file that it does not own: keys/[redacted]';
    const events = JSON.stringify(await project.events());
    const state = JSON.stringify(await project.state());
    for (const text of [run.stdout, events, state]) {
      expect(text).toContain(told);
      expect(text).not.toContain('to-be-kept-out');
    }
  });

  it("keep the worker's lines about each attempt, also when a task prints endless forged ones", async () => {
    project = await createContainerProject();
    onTestFinished(await buildOpenImage(project));
    const flood = `{ line=$(printf '{"at":"2026-01-01T00:00:00.000Z","worker":0,"task":"A","source":"worker","text":"%0900d"}' 0); yes "$line" | head -c 100M; }`;
    await project.graph('login', [
      { id: 'A', create: ['a.txt'], run: 'echo the work of A; echo a > a.txt' },
      { id: 'B', level: 2, create: ['b.txt'], run: `(${flood} > /proc/1/fd/1) && echo b > b.txt` },
      { id: 'C', level: 3, create: ['c.txt'], run: 'echo the work of C; echo c > c.txt' },
    ]);

    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');

    expect(exit, stdout).toBe(0);
    // Two numbers take turns at one place.
    const logs = await Promise.all([0, 1].map((number) => kept(number).catch(() => '')));
    // What is still on its way when the next attempt begins takes of the room of that one.
    expect(logs.join('').length).toBeLessThan(3 * 22 * 1024 ** 2);
    const shown = await Promise.all([0, 1].map((number) => project.cli('logs', String(number), '--tail', 'all')));
    const said = shown.map(({ stdout: lines }) => lines).join('');
    for (const words of ['the work of A', 'A ends: verified', 'B begins', 'B ends: verified', 'the work of C'])
      expect(said.includes(words), words).toBe(true);
  });

  it('have refused and unreached requests of each worker, and the end of the run sums them up', async () => {
    project = await createContainerProject({ container: 'network: allowlist\nallow: [npm, nowhere.invalid]' });
    const meet = (id: string): string =>
      `echo ${id} > ${id}.txt; ${ask(`${id.toLowerCase()}.example:443`, '169.254.169.254:80')}`;
    await project.graph('login', [
      {
        id: 'A',
        create: ['A.txt'],
        run: `${meet('A')}; ${ask('a.example:443', 'a.example:443', 'nowhere.invalid:443')}`,
      },
      { id: 'B', create: ['B.txt'], run: meet('B') },
    ]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout + stderr).toBe(0);
    const sum = '6 requests were refused: a.example:443 (3), 169.254.169.254:80 (2), b.example:443 (1)';
    const out = '1 request is allowed, but its target could not be reached: nowhere.invalid:443 (1)';
    expect(stdout).toContain(`  network  ${sum}\n           ${out} — see: mahabharatha logs --feature login\n`);
    const { tasks } = await project.state();
    const worker = tasks['A']?.attempts[0]?.worker ?? -1;
    const all = (await project.cli('logs', '--tail', 'all')).stdout;
    const said = ['refused a.example:443: ', 'could not reach nowhere.invalid:443: the name has no address'];
    for (const words of [...said.map((line) => `${worker} egress ${line}`), 'refused b.example:443: '])
      expect(all).toContain(words);
    const one = (await project.cli('logs', String(worker), '--tail', 'all')).stdout;
    expect(one).toContain('refused a.example:443: ');
    expect(one.includes('refused b.example:443: ')).toBe(tasks['B']?.attempts[0]?.worker === worker);
    const again = await project.cli('kurukshetra', '--resume', '--json');
    expect(
      lines(again.stdout)
        .slice(-2)
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      {
        type: 'refusals',
        total: 6,
        targets: [{ target: 'a.example:443', count: 3, workers: { [worker]: 3 } }, {}, {}],
      },
      { type: 'unreached', total: 1, targets: [{ target: 'nowhere.invalid:443', workers: { [worker]: 1 } }] },
    ]);
  });
});
