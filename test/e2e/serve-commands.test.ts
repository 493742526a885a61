import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const RUNTIMES = `    npm: { image: "${docker.image}", setup: npm install, setup_files: [package.json], default_command: npm test --silent, needs: package.json }
    made: { image: "${docker.image}", setup: "echo set-up >> log", setup_files: [in.txt, more.txt], default_command: "cat log; exit 7" }
    stubborn: { image: "${docker.image}", setup: "trap 'exit 0' TERM; touch begun; sleep 60 & wait", default_command: "echo ran" }
    always: { image: "${docker.image}", setup: "echo set-up", default_command: "echo ran" }`;

describe.skipIf(docker.why !== '')(`what a session runs a command with${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildWorkerImage();
    served = await serveForTest({ runtimes: RUNTIMES });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const open = async (runtime: string): Promise<string> => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: runtime });
    return `/v1/sessions/${String(body['session_id'])}`;
  };
  const upload = (place: string, files: Record<string, string>, more: object = {}): ReturnType<Served['ask']> => {
    const sent = Object.entries(files).map(([path, content]) => ({ path, content }));
    return served.ask('POST', `${place}/upload`, { files: sent, ...more });
  };
  const exec = (place: string, wish: object = {}): ReturnType<Served['ask']> =>
    served.ask('POST', `${place}/exec`, wish);

  describe('variables from a .env file of the workspace', () => {
    it('are there on request alone, and those of the request go before them', async () => {
      const place = await open('shell');
      await upload(place, {
        '.env': 'A=file\nB="two words"\nBASH_ENV=/workspace/p/evil\nPATH=/nowhere:/usr/bin:/bin\n',
      });
      const command = 'echo "[$A][$B][$BASH_ENV]"; cd /tmp';
      expect((await exec(place, { command })).body['stdout']).toMatch(/^\[\]\[\]/);
      const { body } = await exec(place, { command, env_file: '.env', env: { A: 'request' } });
      expect(body).toMatchObject({ stdout: '[request][two words][]\n', cwd: '/tmp' });
      expect((await exec(place, { command })).body['stdout']).toMatch(/^\[\]\[\]/);
      await served.ask('DELETE', place);
    });

    // Bash takes them for the wish to work as POSIX says, and then reads no prelude.
    it.each([
      ['POSIXLY_CORRECT', '1'],
      ['POSIX_PEDANTIC', '1'],
      ['SHELLOPTS', 'posix'],
    ])(
      'may have %s: the command runs in the folder of the session, and is the first to go without memory',
      async (name, value) => {
        const place = await open('shell');
        await exec(place, { command: 'mkdir -p "$WORKSPACE/sub" && cd "$WORKSPACE/sub"' });
        const command = 'pwd; cat /proc/self/oom_score_adj';
        const { body } = await exec(place, { command, env: { [name]: value } });
        expect(body['stdout']).toBe('/workspace/p/sub\n1000\n');
        await served.ask('DELETE', place);
      },
    );

    it.each([
      ['lines that are none', 'A=1\nmy secret-value\nB="secret-value', 'ENV_FILE_INVALID', /line 2: .*line 3: /],
      ['too much', 'A=secret-value'.repeat(6000), 'ENV_FILE_INVALID', /65536 bytes/],
      ['a link', null, 'PATH_REFUSED', /link/],
    ])('are refused with 400 when the file has %s, and no value is told', async (_, content, code, detail) => {
      const place = await open('shell');
      if (content === null) await exec(place, { command: 'ln -s /proc/self/environ .env' });
      else await upload(place, { '.env': content });
      for (const accept of ['application/json', 'text/event-stream']) {
        const wish = { command: 'true', env_file: '.env' };
        const answer = await served.ask('POST', `${place}/exec`, wish, { accept });
        expect(answer).toMatchObject({ status: 400, body: { code, detail: expect.stringMatching(detail) } });
        expect(JSON.stringify(answer.body)).not.toContain('secret');
      }
      expect(served.output()).not.toContain('secret-value');
      expect((await exec(place, { command: 'echo canary' })).body).toMatchObject({ stdout: 'canary\n' });
      await served.ask('DELETE', place);
    });
  });

  describe('no command', () => {
    it('runs the set-up and the default command; the set-up again only when what it reads has changed', async () => {
      const place = await open('made');
      await upload(place, { 'in.txt': '1' });
      expect((await exec(place)).body).toMatchObject({ stdout: 'set-up\n', exit_code: 7, ok: false });
      expect((await exec(place)).body).toMatchObject({ stdout: 'set-up\n', exit_code: 7 });
      await upload(place, { 'more.txt': '1' });
      expect((await exec(place)).body).toMatchObject({ stdout: 'set-up\nset-up\n' });
      await exec(place, { command: 'echo 2 > in.txt' });
      expect((await exec(place)).body).toMatchObject({ stdout: 'set-up\nset-up\nset-up\n' });
      await upload(place, {}, { delete: ['in.txt', 'more.txt', 'log'] });
      expect((await exec(place)).body).toMatchObject({ stdout: '', stderr: expect.stringContaining('log') });
      await served.ask('DELETE', place);
    });

    it('does a set-up of which it does not know what it reads each time', async () => {
      const place = await open('always');
      for (let time = 0; time < 2; time += 1)
        expect((await exec(place)).body).toMatchObject({ stdout: 'set-up\nran\n', ok: true });
      await served.ask('DELETE', place);
    });

    it('is no success when the set-up was ended, whatever the set-up says', async () => {
      const place = await open('stubborn');
      const running = exec(place);
      const hasBegun = async (): Promise<boolean> => (await served.ask('GET', `${place}/fs?path=begun`)).status === 200;
      await waitUntil('the set-up has begun', hasBegun);
      await served.ask('POST', `${place}/kill`);
      expect((await running).body).toMatchObject({
        ok: false,
        exit_code: 143,
        killed: true,
        stdout: '',
        stderr: expect.stringMatching(/ was ended, and so the default command did not run/),
      });
      await served.ask('DELETE', place);
    });

    it('says what to do when what it needs is missing, also as a stream', async () => {
      const place = await open('npm');
      for (const accept of ['application/json', 'text/event-stream'])
        expect(await served.ask('POST', `${place}/exec`, {}, { accept })).toMatchObject({
          status: 400,
          body: { code: 'NOTHING_TO_RUN', detail: expect.stringContaining('/workspace/p/package.json') },
        });
      await served.ask('DELETE', place);
    });

    it('runs npm install and npm test, and says that there is no network when that is what is missing', async () => {
      const place = await open('npm');
      const scripts = { test: 'node -p 1+1' };
      await upload(place, { 'package.json': JSON.stringify({ name: 'x', version: '1.0.0', scripts }) });
      expect((await exec(place)).body).toMatchObject({ ok: true, stdout: expect.stringMatching(/\n2\n$/) });
      expect((await exec(place)).body).toMatchObject({ ok: true, stdout: '2\n' });
      const dependencies = { tiny: '1.0.0' };
      await upload(place, { 'package.json': JSON.stringify({ name: 'x', version: '1.0.0', scripts, dependencies }) });
      expect((await exec(place, { timeout_s: 60 })).body).toMatchObject({
        ok: false,
        timed_out: false,
        stderr: expect.stringMatching(
          /The set-up "npm install" ended with .*no network: open one with "network": true/,
        ),
      });
      await served.ask('DELETE', place);
    });
  });
});
