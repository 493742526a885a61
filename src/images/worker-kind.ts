import { readBuildRoute, readCertificates } from './host.ts';
import type { ImageEngine, ImageKind } from './kind.ts';
import { partsOf } from './parts.ts';
import { readPackageSources } from './sources.ts';
import { CLAUDE_CODE_VERSION, DEFAULT_BASE, WORKER_LATEST, planWorkerImage } from './worker-image.ts';

export const workerKind: ImageKind = {
  name: 'worker',
  title: 'worker image',
  on: null,
  latest: WORKER_LATEST,
  plan: async (engine, { packageRoot, version, env, base: named, platform }) => {
    const { recipe, programs } = await readPackageSources(packageRoot);
    const base = named ?? (await lastBase(engine)) ?? DEFAULT_BASE;
    return planWorkerImage({
      version,
      recipe,
      programs,
      certificates: await readCertificates(env),
      claudeVersion: CLAUDE_CODE_VERSION,
      base,
      baseId: (await engine.inspectImage(base))?.id ?? null,
      platform,
    });
  },
  findOlder: (engine) => engine.inspectImage(WORKER_LATEST),
  route: readBuildRoute,
};

/** A base that was named once need not be named again. */
async function lastBase(engine: ImageEngine): Promise<string | undefined> {
  const latest = await engine.inspectImage(WORKER_LATEST);
  return latest === undefined ? undefined : partsOf(latest.labels)?.base;
}
