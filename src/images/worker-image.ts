import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { Labels, ListedImage } from '../engines/index.ts';
import type { ImagePlan, ImageState } from './kind.ts';
import { CONTENT_LABEL, VERSION_LABEL } from './labels.ts';
import { NOT_OURS, differences, partsLabel, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

export const WORKER_IMAGE = 'mahabharatha-worker';
/** The last one that was built, for people and for Dockerfiles; runs use the content's tag. */
export const WORKER_LATEST = `${WORKER_IMAGE}:latest`;
export const DEFAULT_BASE = 'node:24-bookworm-slim';
export const CLAUDE_CODE_VERSION = '2.1.197';
export const WORKER_DOCKERFILE = 'docker/worker.Dockerfile';
/** The worker, and what runs from the same image: the egress proxy, and the agent of sandboxes. */
export const PROGRAMS = ['worker', 'egress', 'sandbox-agent'].map((name) => `dist/bundle/${name}/${name}.js`);
const CERTIFICATES = 'docker/worker/extra-ca.pem';

/** Everything that a worker image is made from. */
export interface WorkerIngredients {
  /** Of this package. */
  readonly version: string;
  /** Dockerfile and scripts. */
  readonly recipe: readonly ContextFile[];
  readonly programs: readonly ContextFile[];
  /** The authorities that this machine trusts in addition, as PEM. */
  readonly certificates: Uint8Array | null;
  readonly claudeVersion: string;
  readonly base: string;
  /** Null when the base is not on this machine yet. */
  readonly baseId: string | null;
  /** Say "linux/arm64"; null: the engine's own. */
  readonly platform: string | null;
}

/** Pure: the same ingredients give the same plan and the same tag. */
export function planWorkerImage(from: WorkerIngredients): ImagePlan {
  const trust = from.certificates === null ? [] : [contextFile(CERTIFICATES, from.certificates)];
  const parts: Parts = {
    version: from.version,
    program: hashFiles(from.programs),
    recipe: hashFiles(from.recipe),
    claude: from.claudeVersion,
    base: from.base,
    baseId: from.baseId ?? '',
    certificates: hashFiles(trust),
    platform: from.platform ?? '',
  };
  const content = hashValues(parts);
  const tag = tagOf(WORKER_IMAGE, content);
  return {
    tag,
    content,
    step: `the worker image ${tag}, on ${from.base}`,
    base: from.base,
    dockerfile: WORKER_DOCKERFILE,
    files: [...from.recipe, ...from.programs, ...trust],
    buildArgs: { BASE_IMAGE: from.base, CLAUDE_CODE_VERSION: from.claudeVersion },
    labels: labelsOf(parts),
    platform: from.platform,
    judge: (older) => judge(parts, older),
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
function judge(wanted: Parts, { id, bytes, labels }: ListedImage): ImageState {
  const content = contentOf(labels);
  const parts = partsOf(labels);
  if (content === undefined || parts === undefined) {
    return { state: 'stale', tag: WORKER_LATEST, id, reasons: [NOT_OURS] };
  }
  const tag = tagOf(WORKER_IMAGE, content);
  const reasons = differences(wanted, parts);
  return reasons.length > 0 ? { state: 'stale', tag, id, reasons } : { state: 'fresh', tag, id, bytes };
}

/** Undefined when it is no content hash: labels may be forged, and the tag that is made from this one is printed. */
function contentOf(labels: Labels): string | undefined {
  const content = labels[CONTENT_LABEL] ?? '';
  return /^[0-9a-f]{64}$/.test(content) ? content : undefined;
}
