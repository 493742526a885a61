import { spawnSync } from 'node:child_process';
import { randomId } from '../../src/lib/index.ts';
import type { ContainerProject } from './container-project.ts';
import { docker } from './worker-image.ts';

/**
 * Gives the project an image of its own in which a task may write where its worker prints, past all limits of the worker:
 * a repository's image can replace everything in its containers. Returns what removes the image.
 */
export async function buildOpenImage(project: ContainerProject): Promise<() => void> {
  const lines = ['FROM mahabharatha-worker', 'USER root', 'RUN chmod 0755 /opt/mahabharatha/worker-init'];
  // Another suite on the same engine builds, and removes, another image.
  await project.write('.mahabharatha/Dockerfile', [...lines, `ENV MADE_FOR=${randomId()}`, ''].join('\n'));
  const { stdout, stderr } = await project.cli('build', '--base-image', docker.image);
  const tag = /mahabharatha-repository:[0-9a-f]{12}/.exec(stdout)?.[0];
  if (tag === undefined) throw new Error(stderr);
  return () => void spawnSync('docker', ['image', 'rm', tag]);
}
