import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

let project: ContainerProject;

describe.skipIf(docker.why !== '')(`mahabharatha build${whySkipped}`, () => {
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    project = await createContainerProject();
  });
  afterEach(() => project.remove());

  it.each([
    ['in words', []],
    ['in JSON', ['--json']],
  ])('that is interrupted says so, and that nothing has changed: %s', async (_, more) => {
    await project.write('.mahabharatha/Dockerfile', 'FROM mahabharatha-worker\nRUN echo begun; sleep 300\n');
    const live = project.start('build', ...more);
    const printed: string[] = [];
    live.child.stdout?.on('data', (chunk: Buffer) => printed.push(chunk.toString()));
    await waitUntil('the build has begun', () => /^\s*begun$|"text":"begun"/m.test(printed.join('')));
    live.child.kill('SIGINT');
    const { exit, stdout, stderr } = await live.end;
    expect(exit).toBe(130);
    if (more.length === 0) expect(stderr).toMatch(/^The build was called off; no image has changed\.$/m);
    else expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual({ type: 'build-called-off', built: [] });
  });
});
