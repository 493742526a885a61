import { chmodSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { proxiesFor, proxiesWithoutPasswords } from './host.ts';
import { readRepositorySources } from './sources.ts';

/** A `.mahabharatha` folder with a Dockerfile and a folder beside it. */
function projectFolder(): string {
  const folder = tempFolder();
  mkdirSync(path.join(folder, 'docker', 'deep'), { recursive: true });
  writeFileSync(path.join(folder, 'Dockerfile'), 'FROM mahabharatha-worker\n');
  return folder;
}

describe("what goes into the build of a repository's image", () => {
  it('is nothing when there is no Dockerfile', async () => {
    expect(await readRepositorySources(tempFolder())).toBeUndefined();
  });

  it('is the Dockerfile and the files in docker/ beside it, with their bytes and modes', async () => {
    const folder = projectFolder();
    const bytes = Buffer.from([0, 255, 128, 10]);
    writeFileSync(path.join(folder, 'docker', 'deep', 'data'), bytes);
    writeFileSync(path.join(folder, 'docker', 'tool.sh'), '#!/bin/sh\n');
    chmodSync(path.join(folder, 'docker', 'tool.sh'), 0o700);
    writeFileSync(path.join(folder, 'config.yaml'), 'secret: no');
    expect(await readRepositorySources(folder)).toEqual({
      dockerfile: 'FROM mahabharatha-worker\n',
      companions: [
        { path: 'docker/deep/data', content: bytes, mode: 0o644 },
        { path: 'docker/tool.sh', content: Buffer.from('#!/bin/sh\n'), mode: 0o755 },
      ],
    });
  });

  it.each(['Dockerfile', 'docker/key', 'docker/deep/folder'])('is never the target of the link %s', async (name) => {
    const folder = projectFolder();
    const elsewhere = tempFolder();
    writeFileSync(path.join(elsewhere, 'id_ed25519'), 'private');
    const target = name.endsWith('folder') ? elsewhere : path.join(elsewhere, 'id_ed25519');
    writeFileSync(path.join(folder, 'docker', 'first'), '');
    rmSync(path.join(folder, name), { force: true });
    symlinkSync(target, path.join(folder, name));
    await expect(readRepositorySources(folder)).rejects.toThrow(/not a plain file/);
  });

  it('is never a large folder, which is refused as a mistake', async () => {
    const folder = projectFolder();
    writeFileSync(path.join(folder, 'docker', 'disk.img'), '');
    truncateSync(path.join(folder, 'docker', 'disk.img'), 51 * 1024 * 1024);
    await expect(readRepositorySources(folder)).rejects.toThrow(/more than 50 MB/);
  });
});

describe('what a build gets of this machine', () => {
  it('is the proxies, except those on the loopback, which is another one inside a container', () => {
    const env = {
      HTTP_PROXY: 'http://127.0.0.1:3128',
      https_proxy: 'http://user@localhost:3128/',
      HTTPS_PROXY: 'http://proxy.example:3128',
      NO_PROXY: 'localhost,127.0.0.1',
      PATH: '/bin',
    };
    expect(proxiesFor(env)).toEqual({ HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'localhost,127.0.0.1' });
  });

  it("is no password of a proxy when the repository's own Dockerfile is built, and a note says which is withheld", () => {
    const env = {
      HTTP_PROXY: 'http://me:p@ss/w@rd@proxy.example:3128/',
      https_proxy: 'me:secret@proxy.example:3128',
      HTTPS_PROXY: 'http://proxy.example:3128',
    };
    const { proxies, withheld } = proxiesWithoutPasswords(env);
    expect(Object.values(proxies).join()).not.toMatch(/secret|ss|w@rd/);
    expect(proxies).toMatchObject({ https_proxy: 'proxy.example:3128', HTTPS_PROXY: 'http://proxy.example:3128' });
    expect(withheld).toEqual(['HTTP_PROXY', 'https_proxy']);
  });
});
