import type { KnownAgent } from '../protocol/index.ts';
import { contextFile, hashFiles, hashValues, tagOf } from './content.ts';
import type { ContextFile } from './content.ts';
import type { Labels, ListedImage } from '../engines/index.ts';
import type { ImagePlan, ImageState } from './kind.ts';
import { CONTENT_LABEL, VERSION_LABEL } from './labels.ts';
import { NOT_OURS, differences, partsLabel, partsOf } from './parts.ts';
import type { Parts } from './parts.ts';

export const DEFAULT_BASE = 'node:24-bookworm-slim';
export const CLAUDE_CODE_VERSION = '2.1.197';
export const CODEX_VERSION = '0.169.0';
export const GEMINI_VERSION = '0.61.0';
export const OPENCODE_VERSION = '1.18.33';
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
  /** Programs that its build may fetch from npm. Such an image has the authorities that this machine trusts, too. */
  readonly fetched: readonly Fetched[];
}

interface Fetched {
  readonly program: KnownAgent | 'bun';
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
  scripts: ['prepare.sh', 'add-certificates.sh', 'fetch-claude.sh', 'fetch-agent.sh', 'healthcheck.sh', 'init.sh'].map(
    (name) => `docker/worker/${name}`,
  ),
  programs: programsOf('worker', 'egress'),
  fetched: [
    { program: 'claude', argument: 'CLAUDE_CODE_VERSION', version: CLAUDE_CODE_VERSION },
    { program: 'codex', argument: 'CODEX_VERSION', version: CODEX_VERSION },
    { program: 'gemini', argument: 'GEMINI_VERSION', version: GEMINI_VERSION },
    { program: 'opencode', argument: 'OPENCODE_VERSION', version: OPENCODE_VERSION },
  ],
};

/** Has what sandboxes of any image need. */
export const SANDBOX_IMAGE: PackageImage = {
  name: 'mahabharatha-sandbox',
  title: 'sandbox image',
  latest: 'mahabharatha-sandbox:latest',
  dockerfile: 'docker/sandbox.Dockerfile',
  scripts: [
    'prelude.sh',
    'wait.sh',
    'fork-server.py',
    'end-program.py',
    'fork-server.rb',
    'empty-folders.mjs',
    'own-folders.mjs',
  ].map((name) => `docker/sandbox/${name}`),
  programs: programsOf('sandbox-agent', 'egress'),
  fetched: [],
};

/** Runs the code of AI clients. */
export const BUN_RUNNER: PackageImage = {
  name: 'bun-runner-base',
  title: 'Bun image',
  latest: 'bun-runner-base:latest',
  dockerfile: 'docker/bun.Dockerfile',
  scripts: [
    'docker/worker/add-certificates.sh',
    ...['fetch-bun.sh', 'scan-imports.js', 'link-packages.js', 'list-versions.js', 'wait.js'].map(
      (name) => `docker/bun/${name}`,
    ),
  ],
  programs: [],
  fetched: [{ program: 'bun', argument: 'BUN_VERSION', version: BUN_VERSION }],
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
  /** Those of the programs that the build is to fetch. */
  readonly fetched: readonly Pick<Fetched, 'program' | 'version'>[];
  readonly base: string;
  /** Null when the base is not on this machine yet. */
  readonly baseId: string | null;
  /** Say "linux/arm64"; null: the engine's own. */
  readonly platform: string | null;
}

const NO_PROGRAMS = { claude: '', codex: '', gemini: '', opencode: '', bun: '' };

/** Pure: the same ingredients give the same plan and the same tag. */
export function planPackageImage(image: PackageImage, from: Ingredients): ImagePlan {
  const trust = from.certificates === null ? [] : [contextFile(CERTIFICATES, from.certificates)];
  const parts: Parts = {
    version: from.version,
    program: hashFiles(from.programs),
    recipe: hashFiles(from.recipe),
    ...NO_PROGRAMS,
    ...Object.fromEntries(from.fetched.map(({ program, version }) => [program, version])),
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
      ...Object.fromEntries(image.fetched.map(({ program, argument }) => [argument, parts[program]])),
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
