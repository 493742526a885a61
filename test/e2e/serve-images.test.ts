import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { randomId } from '../../src/lib/index.ts';
import { startRegistry } from '../support/registry.ts';
import { serveForTest } from '../support/served.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const language = (image: string): string =>
  `    ruby: { image: "${image}", extension: .rb, command: [ruby, "{filepath}"] }\n`;

describe.skipIf(docker.why !== '')(`images that a server needs${whySkipped}`, () => {
  beforeAll(buildSandboxImage);

  it('are pulled at its start when they are not present, with progress', async () => {
    const registry = await startRegistry(`mahabharatha-test/${randomId()}`);
    onTestFinished(registry.close);
    onTestFinished(() => void execFileSync('docker', ['image', 'rm', '--force', registry.image], { stdio: 'ignore' }));
    const served = await serveForTest({ config: language(registry.image) });
    expect((await docker.engine.inspectImage(registry.image))?.tags).toEqual([`${registry.image}:latest`]);
    expect(served.output()).toContain(`{"type":"pull","image":"${registry.image}","text":"latest: Pulling from `);
    expect(served.output()).toMatch(/"text":"Status: Downloaded newer image/);
    await served.end();
  });

  it('are named with the script that makes them and the lines to use them; until then a program gets 500 with detail, no output and exit_code -1', async () => {
    const image = `127.0.0.1:1/ruby:${randomId()}`;
    const runtimes = `    perl: { image: "${image}", default_command: perl main.pl }`;
    const served = await serveForTest({ config: language(image), runtimes });
    const problems = served.output().match(/^\{"type":"problem".*$/gm) ?? [];
    expect(problems).toHaveLength(2);
    for (const problem of problems) {
      expect(problem).toContain(`There is no image ${image}, and it could not be fetched: `);
      expect(problem).toContain('docker/air-gapped/build-runtimes.sh');
    }
    expect((await served.ask('GET', '/health')).body).toMatchObject({
      status: 'degraded',
      containers: { ruby: 'stopped', shell: 'running' },
    });
    const { status, body } = await served.ask('POST', '/execute/ruby', { code: '' });
    expect({ status, body }).toMatchObject({
      status: 500,
      body: {
        code: 'SANDBOX_IMAGE_MISSING',
        detail: `There is no image ${image}.`,
        hint: expect.stringContaining('"ruby":{"image":"mahabharatha-ruby:bookworm","extension":".rb"'),
        stdout: '',
        stderr: '',
        exit_code: -1,
      },
    });
    expect((await served.ask('POST', '/execute/shell', { code: 'echo on' })).body).toMatchObject({ stdout: 'on\n' });
    expect(await served.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'perl' })).toMatchObject({
      status: 500,
      body: { code: 'SANDBOX_IMAGE_MISSING', hint: expect.stringContaining(`{"runtimes":{"perl":{"image":`) },
    });
    await served.end();
  });
});
