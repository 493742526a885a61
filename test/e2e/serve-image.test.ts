import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { randomId } from '../../src/lib/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker } from '../support/worker-image.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const serviceSchema = z.object({
  volumes: z.array(z.string()),
  tmpfs: z.array(z.string()),
  mem_limit: z.string(),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()),
});
const why = process.getuid?.() === 0 ? docker.why : docker.why || 'the tokens of root need root';

const run = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' }).trim();

/** There is no compose here: its options are given to `docker run`. */
describe.skipIf(why !== '')(`the server in a container of its own${why === '' ? '' : ` (${why})`}`, () => {
  const token = randomId();
  const tag = `mahabharatha-serve-test:${randomId().slice(0, 8)}`;
  beforeAll(async () => {
    await buildSandboxImage();
    const args = ['build', '--quiet', '--file', 'docker/serve.Dockerfile', '--build-arg', `BASE_IMAGE=${docker.image}`];
    execFileSync('docker', [...args, '--tag', tag, '.'], { cwd: ROOT });
  });
  afterAll(() => run('image', 'rm', tag));

  /** With the options of the compose file, on a free port, and with the certificates that this machine's image was built with. */
  const start = (): string => {
    const folder = tempFolder();
    writeFileSync(path.join(folder, 'tokens'), `anna ${token}\n`);
    chmodSync(path.join(folder, 'tokens'), 0o600);
    chownSync(path.join(folder, 'tokens'), 0, 0);
    const runtime = `shell: { image: "${docker.image}", default_command: "true" }`;
    const language = `shell: { image: "${docker.image}", extension: .sh, command: [bash, "{filepath}"] }`;
    writeFileSync(
      path.join(folder, 'config.yaml'),
      `serve:\n  languages:\n    ${language}\n  runtimes:\n    ${runtime}\n`,
    );
    const compose = z.object({ services: z.record(z.string(), z.unknown()) });
    const { services } = compose.parse(parse(readFileSync(path.join(ROOT, 'docker-compose.yaml'), 'utf8')));
    const service = serviceSchema.parse(services['serve']);
    const certificates = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
    const options = [
      '--init',
      '--read-only',
      '--memory',
      service.mem_limit,
      '--publish',
      '127.0.0.1::8000',
      ...service.volumes.flatMap((volume) => ['--volume', volume.replace(/^\./, folder)]),
      ...service.tmpfs.flatMap((mount) => ['--tmpfs', mount]),
      ...service.cap_drop.flatMap((name) => ['--cap-drop', name]),
      ...service.security_opt.flatMap((option) => ['--security-opt', option]),
      '--volume',
      `${folder}/config.yaml:/etc/mahabharatha/.mahabharatha/config.yaml:ro`,
      ...(certificates === '' ? [] : ['--volume', `${certificates}:/certificates:ro`]),
      '--env',
      `NODE_EXTRA_CA_CERTS=${certificates === '' ? '' : '/certificates'}`,
    ];
    return run('run', '--detach', ...options, tag);
  };

  it('makes its containers beside its own, answers those who have a token, and leaves nothing', async () => {
    const container = start();
    try {
      await waitUntil('it serves', () => run('logs', container).includes('Serving at'));
      const address = `http://${run('port', container, '8000').split('\n')[0] ?? ''}`;
      const ask = async (headers: Record<string, string>): Promise<unknown> => {
        const body = JSON.stringify({ code: 'echo from a container' });
        const wish = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
        return (await fetch(`${address}/execute/shell`, wish)).json();
      };
      expect(await ask({})).toMatchObject({ code: 'TOKEN_REFUSED' });
      expect(await ask({ authorization: `Bearer ${token}` })).toMatchObject({ stdout: 'from a container\n' });
      const health = async (): Promise<string> =>
        (await fetch(`${address}/health`, { headers: { authorization: `Bearer ${token}` } })).text();
      await waitUntil('a spare container of a session', async () => (await health()).includes('"shell":1'));
      // An end in order takes as long as it takes.
      run('stop', '--time', '600', container);
    } finally {
      run('rm', '--force', container);
    }
    expect(run('ps', '--quiet', '--filter', `label=mahabharatha.machine=${container.slice(0, 12)}`)).toBe('');
  });
});
