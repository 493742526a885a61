import { libErrors } from '../lib/index.ts';
import { readCarefulRoute } from './host.ts';
import type { ImageKind, ImagePlan } from './kind.ts';
import { partsOf } from './parts.ts';
import { newestOf, planRepositoryImage } from './repository-image.ts';
import { CHECKOUT_LABEL } from './repository-parts.ts';
import { readRepositorySources } from './sources.ts';

export const repositoryKind: ImageKind = {
  name: 'repository',
  title: "repository's image",
  on: 'worker',
  latest: null,
  plan: async (_, { project: folder, version, platform }, below) => {
    if (folder === null || below === null) return undefined;
    const own = await readRepositorySources(folder);
    return own && planRepositoryImage({ ...own, ...ofWorker(below), folder, version, platform });
  },
  findOlder: async (engine, { labels }) =>
    newestOf(await engine.listImages({ [CHECKOUT_LABEL]: labels[CHECKOUT_LABEL] ?? '' })),
  route: readCarefulRoute,
};

/** What the plan needs of the worker image that it is built on. */
function ofWorker({ tag, labels, files, dockerfile }: ImagePlan) {
  const workerParts = partsOf(labels);
  const text = files.find(({ path }) => path === dockerfile)?.content;
  if (workerParts === undefined || text === undefined) {
    throw libErrors.INTERNAL({ what: `the plan of ${tag} has no readable parts or no Dockerfile` });
  }
  return { worker: tag, workerParts, workerDockerfile: Buffer.from(text).toString('utf8') };
}
