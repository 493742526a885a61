import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { Labels, ListedImage } from '../engines/index.ts';
import type { ImagePlan, ImageState } from './kind.ts';
import { CONTENT_LABEL, VERSION_LABEL } from './labels.ts';
import { NOT_OURS, differences, partsLabel, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

export const DEFAULT_BASE = 'node:24-bookworm-slim';
export const CLAUDE_CODE_VERSION = '2.1.197';
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
  /** Whether it has Claude Code, and the authorities that this machine trusts. */
  readonly isForWorkers: boolean;
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
  isForWorkers: true,
};

/** Has what sandboxes of any image need. */
export const SANDBOX_IMAGE: PackageImage = {
  name: 'mahabharatha-sandbox',
  title: 'sandbox image',
  latest: 'mahabharatha-sandbox:latest',
  dockerfile: 'docker/sandbox.Dockerfile',
  scripts: ['prelude.sh', 'fork-server.py', 'fork-server.rb', 'empty-folders.mjs'].map(
    (name) => `docker/sandbox/${name}`,
  ),
  programs: programsOf('sandbox-agent', 'egress'),
  isForWorkers: false,
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
  /** Null: it has none. */
  readonly claudeVersion: string | null;
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
    claude: from.claudeVersion ?? '',
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
      ...(from.claudeVersion === null ? {} : { CLAUDE_CODE_VERSION: from.claudeVersion }),
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
