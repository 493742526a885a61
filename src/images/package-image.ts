import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { Labels, ListedImage } from '../engines/index.ts';
import type { ImagePlan, ImageState } from './kind.ts';
import { CONTENT_LABEL, VERSION_LABEL } from './labels.ts';
import { NOT_OURS, differences, partsLabel, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

export const DEFAULT_BASE = 'node:24-bookworm-slim';
export const CLAUDE_CODE_VERSION = '2.1.197';
export const BUN_VERSION = '1.4.4';
const CERTIFICATES = 'docker/worker/extra-ca.pem';

/** An image that is made from files of this package alone. */
export interface PackageImage {
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** The last one that was built, for people and for Dockerfiles; all else uses the content's tag. */
  readonly latest: string;
  readonly dockerfile: string;
  /** What the Dockerfile copies, beside the programs. */
  readonly scripts: readonly string[];
  readonly programs: readonly string[];
  /** The program that its build fetches from npm. Such an image has the authorities that this machine trusts, too. */
  readonly fetched: Fetched | null;
}

interface Fetched {
  readonly program: 'claude' | 'bun';
  /** The argument of the Dockerfile. */
  readonly argument: string;
  readonly version: string;
}

const programsOf = (...names: string[]): string[] => names.map((name) => `dist/bundle/${name}/${name}.js`);

/** Workers run in it, and the egress proxy. */
export const WORKER: PackageImage = {
  name: 'mahabharatha-worker',
  title: 'worker image',
  latest: 'mahabharatha-worker:latest',
  dockerfile: 'docker/worker.Dockerfile',
  scripts: ['prepare.sh', 'add-certificates.sh', 'fetch-claude.sh', 'healthcheck.sh', 'init.sh'].map(
    (name) => `docker/worker/${name}`,
  ),
  programs: programsOf('worker', 'egress'),
  fetched: { program: 'claude', argument: 'CLAUDE_CODE_VERSION', version: CLAUDE_CODE_VERSION },
};

/** Has what sandboxes of any image need. */
export const SANDBOX_IMAGE: PackageImage = {
  name: 'mahabharatha-sandbox',
  title: 'sandbox image',
  latest: 'mahabharatha-sandbox:latest',
  dockerfile: 'docker/sandbox.Dockerfile',
  scripts: ['prelude.sh', 'fork-server.py', 'fork-server.rb', 'empty-folders.mjs', 'own-folders.mjs'].map(
    (name) => `docker/sandbox/${name}`,
  ),
  programs: programsOf('sandbox-agent', 'egress'),
  fetched: null,
};

/** Runs the code of AI clients. */
export const BUN_RUNNER: PackageImage = {
  name: 'bun-runner-base',
  title: 'Bun image',
  latest: 'bun-runner-base:latest',
  dockerfile: 'docker/bun.Dockerfile',
  scripts: [
    'docker/worker/add-certificates.sh',
    ...['fetch-bun.sh', 'scan-imports.js', 'link-packages.js', 'list-versions.js'].map((name) => `docker/bun/${name}`),
  ],
  programs: [],
  fetched: { program: 'bun', argument: 'BUN_VERSION', version: BUN_VERSION },
};

/** Everything that such an image is made from. */
export interface Ingredients {
  /** Of this package. */
  readonly version: string;
  /** Dockerfile and scripts. */
  readonly recipe: readonly ContextFile[];
  readonly programs: readonly ContextFile[];
  /** The authorities that this machine trusts in addition, as PEM. */
  readonly certificates: Uint8Array | null;
  /** Of the program that the build fetches; null: it fetches none. */
  readonly fetchedVersion: string | null;
  readonly base: string;
  /** Null when the base is not on this machine yet. */
  readonly baseId: string | null;
  /** Say "linux/arm64"; null: the engine's own. */
  readonly platform: string | null;
}

/** Pure: the same ingredients give the same plan and the same tag. */
export function planPackageImage(image: PackageImage, from: Ingredients): ImagePlan {
  const trust = from.certificates === null ? [] : [contextFile(CERTIFICATES, from.certificates)];
  const parts: Parts = {
    version: from.version,
    program: hashFiles(from.programs),
    recipe: hashFiles(from.recipe),
    claude: '',
    bun: '',
    ...(image.fetched === null ? {} : { [image.fetched.program]: from.fetchedVersion ?? '' }),
    base: from.base,
    baseId: from.baseId ?? '',
    certificates: hashFiles(trust),
    platform: from.platform ?? '',
  };
  const content = hashValues(parts);
  const tag = tagOf(image.name, content);
  return {
    tag,
    content,
    step: `the ${image.title} ${tag}, on ${from.base}`,
    base: from.base,
    dockerfile: image.dockerfile,
    files: [...from.recipe, ...from.programs, ...trust],
    buildArgs: {
      BASE_IMAGE: from.base,
      ...(image.fetched === null ? {} : { [image.fetched.argument]: from.fetchedVersion ?? '' }),
    },
    labels: labelsOf(parts),
    platform: from.platform,
    judge: (older) => judge(image, parts, older),
  };
}

function labelsOf(parts: Parts): Labels {
  return {
    [VERSION_LABEL]: parts.version,
    ...partsLabel(parts),
    'org.opencontainers.image.version': parts.version,
    'org.opencontainers.image.base.name': parts.base,
  };
}

/** Without a known difference the older image is as good. */
function judge(image: PackageImage, wanted: Parts, { id, bytes, labels }: ListedImage): ImageState {
  const content = contentOf(labels);
  const parts = partsOf(labels);
  if (content === undefined || parts === undefined) {
    return { state: 'stale', tag: image.latest, id, reasons: [NOT_OURS] };
  }
  const tag = tagOf(image.name, content);
  const reasons = differences(wanted, parts);
  return reasons.length > 0 ? { state: 'stale', tag, id, reasons } : { state: 'fresh', tag, id, bytes };
}

/** Undefined when it is no content hash: labels may be forged, and the tag that is made from this one is printed. */
function contentOf(labels: Labels): string | undefined {
  const content = labels[CONTENT_LABEL] ?? '';
  return /^[0-9a-f]{64}$/.test(content) ? content : undefined;
}
