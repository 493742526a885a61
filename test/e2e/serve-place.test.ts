import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

describe.skipIf(docker.why !== '')(`where a server is started${whySkipped}`, () => {
  beforeAll(buildWorkerImage);
  /** A PATH with Node alone. */
  const pathWithoutGit = (): string => {
    const folder = tempFolder();
    symlinkSync(process.execPath, path.join(folder, 'node'));
    return folder;
  };

  it('needs neither a git repository nor git', async () => {
    const served = await serveForTest({ env: { PATH: pathWithoutGit() } });
    expect((await served.ask('POST', '/execute/shell', { code: 'echo hi' })).body).toMatchObject({ stdout: 'hi\n' });
    expect(await served.end()).toBe(0);
  });

  it('needs git in a repository, whose settings need an approval', async () => {
    const home = tempFolder();
    mkdirSync(path.join(home, '.git'));
    const started = serveForTest({ home, env: { PATH: pathWithoutGit() } });
    await expect(started).rejects.toThrow('git cannot be started');
  });
});
