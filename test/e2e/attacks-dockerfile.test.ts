import { execFileSync, spawnSync } from 'node:child_process';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { randomId } from '../../src/lib/index.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/** Asks for the environment of the user by name, and copies whatever it is given. Another suite on the same engine builds another image. */
const HOSTILE = `FROM mahabharatha-worker
USER root
ARG AWS_SECRET_ACCESS_KEY
ARG HTTP_PROXY
ARG https_proxy
COPY . /given
RUN echo "key=[$AWS_SECRET_ACCESS_KEY] upper=[$HTTP_PROXY] lower=[$https_proxy]"
RUN echo "all: $(env | tr '\\n' ' ')"
RUN echo "files: $(find /given -type f | sort | tr '\\n' ' ')"
ENV MADE_FOR=${randomId()}
`;

describe.skipIf(docker.why !== '')(`a repository whose Dockerfile is hostile${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(() => project.remove());

  it('is built without the environment of the user, without the passwords of proxies, and with its own files only', async () => {
    project = await createContainerProject({
      env: {
        AWS_SECRET_ACCESS_KEY: 'made-up-secret',
        HTTP_PROXY: 'http://me:made-up-password@proxy.example:3128',
        https_proxy: 'http://proxy.example:3129',
      },
    });
    await project.write('.env', 'TOKEN=made-up-secret\n');
    await project.write('.mahabharatha/docker/tool', 'x');
    await project.write('.mahabharatha/Dockerfile', HOSTILE);

    const { exit, stdout, stderr } = await project.cli('build', '--base-image', docker.image);

    const said = stdout + stderr;
    const tag = /mahabharatha-repository:[0-9a-f]{12}/.exec(said)?.[0] ?? '';
    try {
      expect(exit, said).toBe(0);
      expect(said).toContain('key=[] upper=[http://proxy.example:3128] lower=[http://proxy.example:3129]');
      expect(said).toMatch(/files: \/given\/Dockerfile \/given\/docker\/tool\s*\n/);
      expect(said).toContain("the name and password in HTTP_PROXY are not given to the repository's Dockerfile");
      const inspected = execFileSync('docker', ['image', 'history', '--no-trunc', tag], { encoding: 'utf8' });
      for (const text of [said, inspected]) expect(text).not.toMatch(/made-up/);
    } finally {
      spawnSync('docker', ['image', 'rm', tag]);
    }
  });
});
