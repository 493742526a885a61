import type { Environment } from '../lib/index.ts';
import type { KnownAgent } from '../protocol/index.ts';
import type { ContextFile } from './content.ts';
import type { Engine, ImageBuild, Labels, ListedImage } from '../engines/index.ts';

/** What images need of an engine. */
export type ImageEngine = Pick<
  Engine,
  'info' | 'inspectImage' | 'listImages' | 'buildImage' | 'tagImage' | 'removeImage'
>;

/** For whom an image is built, and from what. */
export interface ImageRequest {
  /** The folder of this package, with its Dockerfile and worker program. */
  readonly packageRoot: string;
  readonly version: string;
  readonly env: Environment;
  /** The `.mahabharatha` folder of the user's repository; null when there is none. */
  readonly project: string | null;
  /** Those that the worker image is to have. */
  readonly agents: readonly KnownAgent[];
  /** Null: the base of the last build, or the default. */
  readonly base: string | null;
  /** Null: the engine's own. */
  readonly platform: string | null;
}

export type ImageState =
  | { readonly state: 'missing' }
  | { readonly state: 'stale'; readonly tag: string; readonly id: string; readonly reasons: readonly string[] }
  | { readonly state: 'fresh'; readonly tag: string; readonly id: string; readonly bytes: number };

/** One exact image, and how it compares with an older one. */
export interface ImagePlan {
  /** With a part of the content hash. */
  readonly tag: string;
  /** A hash over all that the image is made from. */
  readonly content: string;
  /** What is built and on what, in words. */
  readonly step: string;
  /** The image from outside that it is built on, or null. It must be here before the content is known. */
  readonly base: string | null;
  readonly dockerfile: string;
  readonly files: readonly ContextFile[];
  readonly buildArgs: ImageBuild['buildArgs'];
  /** The build adds the content hash. */
  readonly labels: Labels;
  readonly platform: string | null;
  /** Pure. Whether another image of this kind is stale, and why, or as good as the planned one. */
  judge(older: ListedImage): ImageState;
}

/** How this machine reaches the network while it builds: not part of the image's content. */
export interface BuildRoute {
  /** In addition to the plan's files, for a build stage that the image does not contain. */
  readonly files: readonly ContextFile[];
  /** Proxies: Docker keeps these names out of an image's history. */
  readonly buildArgs: ImageBuild['buildArgs'];
  /** What is not given to the build, in words. */
  readonly notes: readonly string[];
}

/** A kind of image. Building and finding work on a list of kinds. */
export interface ImageKind {
  readonly name: string;
  /** For people: "worker image". */
  readonly title: string;
  /** The kind that it is built on; null: an image from outside. */
  readonly on: string | null;
  /** An additional name for the last one that was built. */
  readonly latest: string | null;
  /** Undefined when the request asks for none. `below` is the image of the kind that it is built on. */
  plan(engine: ImageEngine, request: ImageRequest, below: ImagePlan | null): Promise<ImagePlan | undefined>;
  /** When the planned image is missing: the one to compare it with. */
  findOlder(engine: ImageEngine, plan: ImagePlan): Promise<ListedImage | undefined>;
  route(env: Environment): Promise<BuildRoute>;
}
