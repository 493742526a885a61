import { afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { createContainerProject } from './container-project.ts';
import type { ContainerProject } from './container-project.ts';
import { buildWorkerImage, docker, whySkipped } from './worker-image.ts';

export interface ContainerScene {
  /** Of the test that runs now. */
  readonly project: ContainerProject;
  /** Adds these lines to its configuration. */
  configure(more: string): Promise<void>;
}

/** Tests on the real engine, each in a repository of its own. Afterwards nothing of it is in the engine any more. */
export function inContainers(
  title: string,
  tests: (scene: ContainerScene) => void,
  {
    prepare,
    ...given
  }: Parameters<typeof createContainerProject>[0] & {
    readonly prepare?: (project: ContainerProject) => Promise<void>;
  } = {},
): void {
  describe.skipIf(docker.why !== '')(`${title}${whySkipped}`, () => {
    let project: ContainerProject;
    beforeAll(buildWorkerImage);
    beforeEach(async () => {
      project = await createContainerProject(given);
      await prepare?.(project);
    });
    afterEach(async () => {
      expect(project.leftovers()).toEqual([]);
      await project.remove();
    });
    tests({
      get project() {
        return project;
      },
      configure: async (more) => project.config(`${await project.read('.mahabharatha/config.yaml')}${more}`),
    });
  });
}
