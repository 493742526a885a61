import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

describe.skipIf(docker.why !== '')(`the files of a session${whySkipped}`, () => {
  let served: Served;
  let session: string;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest();
  });
  beforeEach(async () => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'p', runtime_type: 'shell' });
    session = String(body['session_id']);
    return async () => void (await served.ask('DELETE', place()));
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const place = (): string => `/v1/sessions/${session}`;
  const exec = async (command: string): Promise<string> =>
    String((await served.ask('POST', `${place()}/exec`, { command })).body['stdout']);
  const upload = (files: object[], more: object = {}): ReturnType<Served['ask']> =>
    served.ask('POST', `${place()}/upload`, { files, ...more });
  const read = async (query: string): Promise<Record<string, unknown>> =>
    (await served.ask('GET', `${place()}/fs?path=${query}`)).body;
  const list = async (query = ''): Promise<Record<string, unknown>[]> =>
    (await served.ask('GET', `${place()}/files${query}`)).body['files'] as Record<string, unknown>[];

  it('diff sync by hashes: says which contents it needs, and takes those', async () => {
    const files = [
      { path: 'src/main.ts', content: 'one' },
      { path: './b.bin', content: 'AAEC/w==', encoding: 'base64' },
    ];
    const hashes = [
      { path: 'src/main.ts', sha256: sha256('one') },
      { path: './b.bin', sha256: sha256(Buffer.from('AAEC/w==', 'base64')), executable: true },
    ];
    expect((await upload(hashes)).body).toEqual({
      synced: 0,
      deleted: 0,
      needed: ['src/main.ts', './b.bin'],
      workspace_lost: false,
    });
    expect((await upload(files)).body).toMatchObject({ synced: 2, needed: [] });
    expect((await upload(hashes)).body).toMatchObject({ synced: 0, needed: [] });
    expect(await exec('stat -c %a b.bin; echo two > src/main.ts')).toBe('755\n');
    expect((await upload(hashes, { delete: ['b.bin'] })).body).toMatchObject({
      deleted: 1,
      needed: ['src/main.ts', './b.bin'],
    });
    const mixed = [{ ...files[0], sha256: sha256('one') }, hashes[1] ?? {}];
    expect((await upload(mixed)).body).toMatchObject({ synced: 1, needed: ['./b.bin'] });
    expect(await exec('cat src/main.ts')).toBe('one');
  });

  it('sync in both directions: lists files that commands made, with size, hash, kind and mode, and hands them out', async () => {
    await exec(String.raw`mkdir -p out/deep; echo made > out/a.txt; chmod 600 out/a.txt; head -c 20000000 /dev/zero > big
      ln -s /etc/passwd link; ln -s / out/root; mkfifo pipe; touch $'bad\xff' 'new
line'; mkdir closed; chmod 0 closed; echo secret > no; chmod 0 no; truncate -s 300M sparse`);
    const files = await list();
    const of = (name: string): unknown => files.find(({ path }) => path === name);
    expect(of('out/a.txt')).toEqual({
      path: 'out/a.txt',
      kind: 'file',
      size: 5,
      mode: '600',
      sha256: sha256('made\n'),
      problem: null,
    });
    expect(of('big')).toMatchObject({ size: 20_000_000, sha256: sha256(Buffer.alloc(20_000_000)) });
    expect(of('link')).toMatchObject({ kind: 'link', sha256: null, problem: null });
    expect(of('out/root')).toMatchObject({ kind: 'link' });
    expect(of('pipe')).toMatchObject({ kind: 'other', sha256: null });
    expect(of('out/deep')).toMatchObject({ kind: 'folder' });
    expect(of('new\nline')).toMatchObject({ kind: 'file' });
    expect(of('closed')).toMatchObject({ kind: 'folder', problem: 'it cannot be read (EACCES)' });
    expect(of('no')).toMatchObject({ sha256: null, problem: 'it cannot be read (EACCES)' });
    expect(of('sparse')).toMatchObject({ size: 300 * 1024 ** 2, problem: expect.stringContaining('larger than') });
    expect(files.filter(({ problem }) => problem === 'its name is no text')).toHaveLength(1);
    expect(files.some(({ path }) => String(path).startsWith('out/root/'))).toBe(false);
    expect((await list('?path=out')).map(({ path }) => path)).toEqual(['a.txt', 'deep', 'root']);
    expect(await read('out/a.txt')).toEqual({ content: 'made\n', size: 5, encoding: 'utf8', truncated: false });
    expect(await read('big&encoding=base64')).toMatchObject({ size: 20_000_000, truncated: true });
    const rest = await read(`big&encoding=base64&from=${16 * 1024 ** 2}`);
    expect(Buffer.from(String(rest['content']), 'base64')).toHaveLength(20_000_000 - 16 * 1024 ** 2);
    expect(rest['truncated']).toBe(false);
  });

  it.each([
    [
      'too long paths',
      "mkdir many; cd many; n=$(printf 'x%.0s' $(seq 250)); for i in $(seq 15); do mkdir $n; cd $n; done; seq 1500 | xargs touch",
      422,
      'TREE_TOO_LARGE',
    ],
    ['too many', 'mkdir many; cd many; seq 20001 | xargs touch', 422, 'TREE_TOO_LARGE'],
    ['a link in place of the folder', 'ln -s /etc many', 400, 'PATH_REFUSED'],
    ['a file in place of the folder', 'touch many', 400, 'PATH_REFUSED'],
    ['no folder', 'true', 404, 'FILE_MISSING'],
  ])('answers a listing of %s with an error in words', async (_, command, status, code) => {
    await exec(command);
    expect(await served.ask('GET', `${place()}/files?path=many`)).toMatchObject({ status, body: { code } });
    expect(await exec('echo canary')).toBe('canary\n');
  });

  it('lists a tree that is deeper than paths may be long, as far as its limit', async () => {
    await exec('for i in $(seq 300); do mkdir -p d/e; cd d; done; for i in $(seq 20); do :; done');
    const files = await list();
    expect(files).toContainEqual(expect.objectContaining({ problem: 'more than 64 folders deep' }));
    expect(await exec('cd /workspace/p; rm -r d; echo canary')).toBe('canary\n');
  });

  it.each([
    ['../x', /out of the workspace/],
    ['a/../../x', /out of the workspace/],
    ['/etc/x', /out of the workspace/],
    ['/workspace/p2/x', /out of the workspace/],
    ['a\0b', /control character/],
    ['a\nb', /control character/],
    ['a\u001b[31m', /control character/],
    ['x'.repeat(300), /longer than 255/],
    ['a/'.repeat(70) + 'b', /deep/],
    ['\ud800', /no valid text/],
    ['link', null],
    ['etc/x', /link is on the way/],
    ['in/etc/x', /link is on the way/],
    ['pipe', null],
    ['folder', /it is a folder/],
    ['file/x', /file or a link is on the way/],
    ['closed/x', /may not be read or written/],
  ])('writes to %j only what is in the workspace', async (path, reason) => {
    await exec('ln -s /tmp/target link; ln -s /tmp etc; mkdir in; ln -s ../etc in/etc; mkfifo pipe; mkdir folder');
    await exec('touch file; mkdir closed; chmod 0 closed');
    const { status, body } = await upload([
      { path: 'before', content: '1' },
      { path, content: 'x' },
      { path: 'after', content: '2' },
    ]);
    if (reason === null) expect(body).toMatchObject({ synced: 3 });
    else {
      expect([status, body['detail']]).toEqual([400, expect.stringMatching(reason)]);
      expect(await exec('cat before after 2> /dev/null')).toBe(body['code'] === 'PATH_REFUSED' ? '' : '12');
    }
    expect(await exec('ls /tmp; ls -A | grep upload; echo canary')).toBe('canary\n');
  });

  it('says what was written of an upload that could not be done in full', async () => {
    await exec('ln -s /tmp out; touch old');
    const files = [
      { path: 'a', content: '1' },
      { path: 'out/b', content: '2' },
      { path: 'c', content: '3' },
    ];
    expect(await upload(files, { delete: ['old', 'none'] })).toMatchObject({
      status: 400,
      body: {
        code: 'UPLOAD_INCOMPLETE',
        written: ['a', 'c'],
        deleted: ['old'],
        failed: [
          { path: 'none', reason: 'there is no such file' },
          { path: 'out/b', reason: 'a file or a link is on the way' },
        ],
      },
    });
    const big = { path: 'big', content: 'x'.repeat(5_000_000) };
    await exec('head -c 600m /dev/zero > full');
    const { body } = await upload([{ path: 'd', content: '' }, big]);
    expect(body['failed']).toEqual([{ path: 'big', reason: 'the disk of the sandbox is full' }]);
    expect(await exec('rm full; ls -A | grep upload; echo canary')).toBe('canary\n');
  });

  it.each([
    ['a wrong hash', { path: 'a', content: 'x', sha256: '0'.repeat(64) }, 'PATH_REFUSED'],
    ['no base64', { path: 'a', content: 'é!', encoding: 'base64' }, 'PATH_REFUSED'],
    ['half a character', { path: 'a', content: '\ud800' }, 'PATH_REFUSED'],
    ['neither content nor hash', { path: 'a' }, 'BODY_INVALID'],
    ['a hash that is none', { path: 'a', sha256: 'XYZ' }, 'BODY_INVALID'],
    ['a path that is none', { path: 7, content: '' }, 'BODY_INVALID'],
  ])('refuses a file with %s', async (_, file, code) => {
    const answer = await upload([{ path: 'first', content: '1' }, file]);
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(await exec('ls -A')).toBe('');
  });

  it('refuses a path that comes twice', async () => {
    const twice = [
      { path: 'a/b', content: '1' },
      { path: './a//b', content: '2' },
    ];
    expect(await upload(twice)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('twice') } });
  });

  it('is not led out of the workspace by a command that swaps folders for links meanwhile', async () => {
    const swapping = served.ask('POST', `${place()}/exec`, {
      command: 'mkdir real; mkdir /tmp/out; while :; do ln -sfn /tmp/out d; rm -rf d; cp -r real d; rm -rf d; done',
      timeout_s: 3,
    });
    for (let round = 0; round < 60; round += 1) {
      const files = Array.from({ length: 20 }, (_, index) => ({ path: `d/${round}-${index}`, content: 'x' }));
      expect([200, 400]).toContain((await upload(files)).status);
    }
    await swapping;
    expect(await exec('find /tmp/out -type f | wc -l; echo canary')).toBe('0\ncanary\n');
  });

  it('writes two uploads to one path side by side as one of them, not as a mixture', async () => {
    const [a, b] = ['a', 'b'].map((letter) => ({ path: 'same', content: letter.repeat(3_000_000) }));
    await Promise.all([upload([a ?? {}]), upload([b ?? {}])]);
    expect(await exec('wc -c < same; fold -w 1 < same | sort -u | wc -l; ls -A')).toBe('3000000\n1\nsame\n');
  });

  it('makes its folder again when a command has removed it, and follows no link in its place', async () => {
    await exec('cd /; rm -r /workspace/p');
    expect(await upload([{ path: 'a', content: '1' }])).toMatchObject({ status: 200 });
    await exec('cd /; rm -r /workspace/p; ln -s /tmp /workspace/p');
    expect(await upload([{ path: 'a', content: '1' }])).toMatchObject({ status: 400 });
    expect(await served.ask('GET', `${place()}/files`)).toMatchObject({ status: 400 });
    expect(await exec('cd /; ls /tmp; rm /workspace/p; mkdir /workspace/p; echo canary')).toBe('canary\n');
  });

  it.each(['kill', 'pause', 'rm --force'])(
    'are those of a new, empty workspace after "docker %s", and the answer says so',
    async (how) => {
      await upload([{ path: 'old', content: '1' }]);
      const name = session.replace('_', '-');
      const [id = ''] = execFileSync('docker', ['ps', '-q', '--filter', `name=${name}`], { encoding: 'utf8' }).split(
        '\n',
      );
      execFileSync('docker', [...how.split(' '), id]);
      const known = { path: 'old', sha256: sha256('1') };
      expect((await upload([known, { path: 'new', content: '2' }])).body).toEqual({
        synced: 1,
        deleted: 0,
        needed: ['old'],
        workspace_lost: true,
      });
      expect((await upload([{ path: 'old', content: '1' }])).body).toMatchObject({ synced: 1, workspace_lost: false });
      expect((await list()).map(({ path }) => path)).toEqual(['new', 'old']);
      expect(await exec('cat old new')).toBe('12');
    },
  );

  it('takes many files with the longest names that there can be', async () => {
    const names = Array.from({ length: 300 }, (_, index) => [0, 1, 2, 3].map(() => '"'.repeat(250)).join('/') + index);
    expect((await upload(names.map((path) => ({ path, content: '"' })))).body).toMatchObject({ synced: 300 });
    const hashes = names.map((path) => ({ path, sha256: sha256('"') }));
    expect((await upload(hashes)).body).toMatchObject({ needed: [] });
    expect((await list()).filter(({ kind }) => kind === 'file')).toHaveLength(300);
  });

  it('takes 2,000 files in one request, and names them all with their hashes', async () => {
    const files = Array.from({ length: 2000 }, (_, index) => ({
      path: `src/${index % 50}/${index}.ts`,
      content: `${index}`,
    }));
    expect((await upload(files)).body).toMatchObject({ synced: 2000 });
    const listed = await list();
    expect(listed.filter(({ kind }) => kind === 'file')).toHaveLength(2000);
    const hashes = files.map(({ path, content }) => ({ path, sha256: sha256(content) }));
    expect((await upload(hashes)).body).toMatchObject({ synced: 0, needed: [] });
  });
});
