import { readBuildRoute, readCertificates } from './host.ts';
import type { ImageEngine, ImageKind } from './kind.ts';
import { BUN_RUNNER, DEFAULT_BASE, planPackageImage, SANDBOX_IMAGE, WORKER } from './package-image.ts';
import type { PackageImage } from './package-image.ts';
import { partsOf } from './parts.ts';
import { readPackageSources } from './sources.ts';

export const workerKind = kindOf('worker', WORKER);
export const sandboxKind = kindOf('sandbox', SANDBOX_IMAGE);
export const bunKind = kindOf('bun', BUN_RUNNER);

function kindOf(name: string, image: PackageImage): ImageKind {
  return {
    name,
    title: image.title,
    on: null,
    latest: image.latest,
    plan: async (engine, { packageRoot, version, env, base: named, platform, agents }) => {
      const { recipe, programs } = await readPackageSources(packageRoot, image);
      const base = named ?? (await lastBase(engine, image)) ?? DEFAULT_BASE;
      return planPackageImage(image, {
        version,
        recipe,
        programs,
        certificates: image.fetched.length === 0 ? null : await readCertificates(env),
        fetched: image.fetched.filter(({ program }) => program === 'bun' || agents.includes(program)),
        base,
        baseId: (await engine.inspectImage(base))?.id ?? null,
        platform,
      });
    },
    findOlder: (engine) => engine.inspectImage(image.latest),
    route: readBuildRoute,
  };
}

/** A base that was named once need not be named again, for any image. */
async function lastBase(engine: ImageEngine, { latest }: PackageImage): Promise<string | undefined> {
  for (const tag of [latest, WORKER.latest, SANDBOX_IMAGE.latest, BUN_RUNNER.latest]) {
    const found = await engine.inspectImage(tag);
    const base = found === undefined ? undefined : partsOf(found.labels)?.base;
    if (base !== undefined) return base;
  }
  return undefined;
}
