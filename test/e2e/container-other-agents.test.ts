import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MODELS } from '../support/agent-clis.ts';
import { bridgeAddress } from '../support/bridge.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { GEMINI_API } from '../support/gemini-api.ts';
import { startModelServer } from '../support/model-server.ts';
import { startProvider } from '../support/provider-server.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const KEYS = { GEMINI_API_KEY: `made-up-${randomUUID()}`, ANTHROPIC_API_KEY: `sk-ant-made-up-${randomUUID()}` };
/** In its own container each agent has its own key alone. */
const SEEN = 'echo "seen: $GEMINI_API_KEY $ANTHROPIC_API_KEY" | tr a-z A-Z';

describe.skipIf(docker.why !== '')(`the real Gemini CLI and OpenCode in containers${whySkipped}`, () => {
  let project: ContainerProject;
  const servers: { close(): Promise<void> }[] = [];
  beforeAll(buildWorkerImage);
  // The name of the worker image moves to the one that was asked for last, and other tests use it.
  afterAll(buildWorkerImage);
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('build one feature together, each with its own key and its own model', async () => {
    const [host, done] = [bridgeAddress(), { text: 'Done.' }];
    const shell = { command: `${SEEN}; echo alpha > a.txt`, description: 'Write it' };
    const gemini = await startProvider(GEMINI_API, [{ call: { name: 'run_shell_command', input: shell } }, done], {
      host,
    });
    const bash = { command: `${SEEN}; echo beta > b.txt`, description: 'Write it' };
    const opencode = await startModelServer([{ toolUse: { name: 'bash', input: bash } }, done], { host });
    servers.push(gemini, opencode);
    const settings = { provider: { anthropic: { options: { baseURL: `${opencode.url}/v1` } } } };
    const hosts = [gemini, opencode].map(({ url }) => new URL(url).host);
    project = await createContainerProject({
      env: { ...KEYS, GOOGLE_GEMINI_BASE_URL: gemini.url, OPENCODE_CONFIG_CONTENT: JSON.stringify(settings) },
      container: `agents: [gemini, opencode]\nallow: ${JSON.stringify(hosts)}\nenv: [OPENCODE_CONFIG_CONTENT]`,
    });
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], agent: 'gemini', model: MODELS.gemini },
      { id: 'T-2', create: ['b.txt'], agent: 'opencode', model: MODELS.opencode },
    ]);

    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '2', '--auto-build');

    expect({ exit, stdout, stderr }).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('2 of 2 tasks are merged'),
    });
    expect(stdout).toContain('credentials handover: gemini in the container gets GEMINI_API_KEY');
    expect(stdout).toContain('credentials handover: opencode in the container gets ANTHROPIC_API_KEY');
    expect(gemini.requests.map(({ headers }) => headers['x-goog-api-key'])).toEqual(Array(2).fill(KEYS.GEMINI_API_KEY));
    for (const { headers } of opencode.requests) expect(headers['x-api-key']).toBe(KEYS.ANTHROPIC_API_KEY);
    const logs = await project.cli('logs', '--tail', 'all');
    for (const key of Object.values(KEYS)) {
      expect(`${stdout}${stderr}${logs.stdout}${JSON.stringify(await project.state())}`).not.toContain(key);
    }
    for (const { requests } of [gemini, opencode]) expect(JSON.stringify(requests)).toContain('SEEN: ');
    expect(JSON.stringify(gemini.requests)).not.toContain(KEYS.ANTHROPIC_API_KEY.toUpperCase());
    expect(JSON.stringify(opencode.requests)).not.toContain(KEYS.GEMINI_API_KEY.toUpperCase());
  });

  it.each([
    ['codex', '.codex/auth.json', 'Codex', 'set OPENAI_API_KEY or CODEX_API_KEY'],
    ['gemini', '.gemini/oauth_creds.json', 'Gemini CLI', 'set GEMINI_API_KEY'],
  ])('do not begin with a login of %s, which stays at home', async (agent, login, title, remedy) => {
    project = await createContainerProject();
    const file = path.join(project.env['HOME'] ?? '', login);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, '{}');
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'] }]);
    const { exit, stderr } = await project.cli('kurukshetra', '--agent', agent);
    const told = `error: There are no credentials for ${title} in a container: there is no key, and the login in ${file} is not for containers. 1 task needs it.`;
    expect({ exit, stderr }).toMatchObject({ exit: 4, stderr: expect.stringContaining(told) });
    expect(stderr).toContain(`For ${title}: ${remedy}; without containers`);
    await project.config(`${await project.read('.mahabharatha/config.yaml')}agent: ${agent}\n`);
    const doctor = await project.cli('doctor');
    expect(doctor.stdout).toMatch(new RegExp(`✗ credentials +no key, and the login in ${file} is not for containers`));
  });
});
