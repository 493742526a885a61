import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bridgeAddress } from '../support/bridge.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { OPENAI_RESPONSES } from '../support/openai-responses.ts';
import { startProvider } from '../support/provider-server.ts';
import type { ProviderServer, Turn } from '../support/provider-server.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const SECRET = `sk-made-up-${randomUUID()}`;
const shell = (cmd: string): Turn => ({ call: { name: 'exec_command', input: { cmd } } });

describe.skipIf(docker.why !== '')(`features built by the real Codex in containers${whySkipped}`, () => {
  let project: ContainerProject;
  let server: ProviderServer | undefined;
  beforeAll(buildWorkerImage);
  // The name of the worker image moves to the one that was asked for last, and other tests use it.
  afterAll(buildWorkerImage);
  afterEach(async () => {
    await server?.close();
    server = undefined;
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('are complete: its own key reaches the agent and its model alone, and doctor --probe says that it works', async () => {
    const told = { text: `My key is ${SECRET}.` };
    const probe = shell('mkdir -p mahabharatha-answer; echo ready > mahabharatha-answer/probe.txt');
    server = await startProvider(OPENAI_RESPONSES, [shell('env > /tmp/seen; echo alpha > a.txt'), told, probe], {
      host: bridgeAddress(),
    });
    project = await createContainerProject({
      env: { OPENAI_API_KEY: SECRET },
      container: `agents: [codex]\nallow: ["${new URL(server.url).host}"]`,
    });
    const agent = `agent: codex\ncodex: { args: [-c, 'openai_base_url="${server.url}/v1"'] }\n`;
    await project.config(`${await project.read('.mahabharatha/config.yaml')}${agent}`);
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], verify: 'test -z "$CODEX_API_KEY$OPENAI_API_KEY"' }]);

    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1', '--auto-build');

    expect(stdout).toContain('1 of 1 tasks are merged');
    expect(exit).toBe(0);
    expect(stdout).toContain('credentials handover: codex in the container gets OPENAI_API_KEY');
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      `Bearer ${SECRET}`,
      `Bearer ${SECRET}`,
    ]);
    const logs = await project.cli('logs', '--tail', 'all');
    expect(logs.stdout).toContain('My key is [redacted].');
    expect(`${stdout}${stderr}${logs.stdout}${JSON.stringify(await project.state())}`).not.toContain(SECRET);

    const doctor = await project.cli('doctor', '--probe');

    expect(doctor.stdout).toMatch(/✓ agent +codex \d+\.\d+\.\d+ of the image/);
    expect(doctor.stdout).toMatch(/✓ credentials +OPENAI_API_KEY is set; handover/);
    expect(doctor.stdout).toMatch(/✓ probe of codex +its model has answered/);
  });

  it('do not begin with an agent that their image does not have', async () => {
    project = await createContainerProject({ env: { OPENAI_API_KEY: SECRET }, container: 'network: none' });
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'] }]);
    const { exit, stderr } = await project.cli('kurukshetra', '--agent', 'codex');
    expect(stderr).toContain('The agent "codex" cannot be used: "codex" is not in the image of the workers.');
    expect(stderr).toContain('Name "codex" under workers.container.agents');
    expect(exit).toBe(4);
  });
});
