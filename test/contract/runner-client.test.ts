import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { HttpRunnerClient, MockRunnerClient } from '../../src/client/index.ts';
import type {
  ExecEnd,
  ExecRequest,
  ExecResult,
  FileContent,
  IDEFile,
  IRunnerClient,
  SessionOptions,
  WorkspaceEntry,
} from '../../src/client/index.ts';
import type * as bodies from '../../src/http/bodies.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

function behavesAsAClient(open: () => IRunnerClient): void {
  it('IRunnerClient: createSession, exec, syncWorkspace, killProcess and destroySession', async () => {
    const client = open();
    const { session_id: id, workspace_path: workspace } = await client.createSession('proj_1', 'shell');
    expect(id).toMatch(/^session_[0-9a-f]{8}$/);
    expect(workspace).toBe('/workspace/proj_1');
    await client.syncWorkspace(id, [{ path: 'a.txt', content: 'hello' }]);
    expect(await client.exec(id, { command: 'cat a.txt; exit 3' })).toMatchObject({
      ok: false,
      exit_code: 3,
      stdout: 'hello',
      cwd: workspace,
    });
    await client.killProcess(id);
    await client.destroySession(id);
    await expect(client.exec(id, { command: 'true' })).rejects.toMatchObject({
      name: 'RunnerError',
      status: 404,
      code: 'SESSION_UNKNOWN',
    });
  });
}

describe('the client without a server', () => {
  behavesAsAClient(() => new MockRunnerClient(() => ({ stdout: 'hello', exit_code: 3 })));

  it('shows what was sent', async () => {
    const client = new MockRunnerClient();
    const { session_id: id } = await client.createSession('x', 'node');
    await client.syncWorkspace(id, [{ path: 'a', content: '1' }]);
    await client.syncWorkspace(id, [{ path: 'a', content: '2' }]);
    expect(client.filesOf(id)).toEqual([{ path: 'a', content: '2' }]);
  });
});

describe.skipIf(docker.why !== '')(`the client of a server${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest();
  });
  afterAll(async () => void (await served.end()));

  behavesAsAClient(() => new HttpRunnerClient({ url: `${served.address}/` }));

  it('sends of what it has sent before the hashes alone, and the content that the workspace has not', async () => {
    const bodiesSent: string[] = [];
    const noting: typeof fetch = (url, options) => {
      if (typeof options?.body === 'string') bodiesSent.push(options.body);
      return fetch(url, options);
    };
    const client = new HttpRunnerClient({ url: served.address, fetch: noting });
    const { session_id: id } = await client.createSession('x', 'shell');
    const files = ['a', 'b', 'c'].map((name) => ({ path: `${name}.txt`, content: `content of ${name}` }));
    await client.syncWorkspace(id, files);
    await client.exec(id, { command: 'rm a.txt; echo made > out.txt' });
    bodiesSent.length = 0;
    await client.syncWorkspace(id, [...files.slice(0, 2), { path: 'c.txt', content: 'changed' }]);
    expect(bodiesSent).toHaveLength(2);
    expect(bodiesSent[0]).not.toContain('content of');
    expect(JSON.parse(bodiesSent[1] ?? '')).toEqual({ files: [files[0]] });
    expect(await client.exec(id, { command: 'cat a.txt b.txt c.txt' })).toMatchObject({
      stdout: 'content of acontent of bchanged',
    });
    expect((await client.listFiles(id)).map(({ path: name }) => name)).toEqual(['a.txt', 'b.txt', 'c.txt', 'out.txt']);
    expect(await client.readFile(id, 'out.txt')).toMatchObject({ content: 'made\n', truncated: false });
    await client.removeFiles(id, ['out.txt']);
    await expect(client.readFile(id, 'out.txt')).rejects.toMatchObject({ code: 'FILE_MISSING' });
    await client.destroySession(id);
  });

  it('hands on output as it comes, and ends the command when it is aborted', async () => {
    const client = new HttpRunnerClient({ url: served.address });
    const { session_id: id } = await client.createSession('x', 'shell');
    let [stdout, stderr] = ['', ''];
    const end = await client.stream(id, { command: String.raw`printf 'a\n\nb'; echo é >&2; exit 7` }, (part) => {
      if (part.stream === 'stdout') stdout += part.text;
      else stderr += part.text;
    });
    expect([stdout, stderr, end.exit_code]).toEqual(['a\n\nb', 'é\n', 7]);
    const gone = new AbortController();
    const endless = client.stream(id, { command: 'yes' }, () => gone.abort(), gone.signal);
    await expect(endless).rejects.toThrow(/abort/);
    await client.killProcess(id);
    expect(await client.exec(id, { command: 'echo next' })).toMatchObject({ stdout: 'next\n' });
    await client.destroySession(id);
  });
});

it('the client has the types of the server, and needs nothing of Node', () => {
  expectTypeOf<z.infer<typeof bodies.execResult>>().toExtend<ExecResult>();
  expectTypeOf<z.infer<typeof bodies.execEnd>>().toExtend<ExecEnd>();
  expectTypeOf<keyof ExecRequest>().toEqualTypeOf<keyof z.infer<typeof bodies.exec>>();
  expectTypeOf<keyof SessionOptions>().toEqualTypeOf<
    Exclude<keyof z.infer<typeof bodies.newSession>, 'project_id' | 'runtime_type'>
  >();
  expectTypeOf<keyof IDEFile>().toEqualTypeOf<keyof Omit<z.infer<typeof bodies.upload>['files'][number], 'sha256'>>();
  expectTypeOf<z.infer<typeof bodies.fileList>['files'][number]>().toExtend<WorkspaceEntry>();
  expectTypeOf<z.infer<typeof bodies.fileContent>>().toExtend<FileContent>();
  const folder = fileURLToPath(new URL('../../src/client', import.meta.url));
  const imports = readdirSync(folder).flatMap((file) =>
    [...readFileSync(path.join(folder, file), 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) => name),
  );
  expect(imports.filter((name) => !name?.startsWith('./'))).toEqual([]);
});
