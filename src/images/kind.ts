import type { Environment } from '../lib/index.ts';
import type { ContextFile } from './content.ts';
import type { ImageBuild, ImageEngine, Labels, ListedImage } from './image-engine.ts';

/** Whose images, made from what. */
export interface ImageRequest {
  /** Folder of this package: its Dockerfile and its worker program. */
  readonly packageRoot: string;
  readonly version: string;
  readonly env: Environment;
  /** The `.mahabharatha` folder of the user's repository; null when there is none. */
  readonly project: string | null;
  /** Null is the base of the last build, or the default. */
  readonly base: string | null;
  /** Null is the engine's own. */
  readonly platform: string | null;
}

export type ImageState =
  | { readonly state: 'missing' }
  | { readonly state: 'stale'; readonly tag: string; readonly id: string; readonly reasons: readonly string[] }
  | { readonly state: 'fresh'; readonly tag: string; readonly id: string; readonly bytes: number };

/** One exact image: what it is made from, and what an older one is in comparison. */
export interface ImagePlan {
  /** Named after the content. */
  readonly tag: string;
  /** A hash over all that the image is made of. */
  readonly content: string;
  /** What is built and on what, in words. */
  readonly step: string;
  /** An image from outside that it is built on. It belongs to the content, so it is fetched before the content is known. */
  readonly base: string | null;
  readonly dockerfile: string;
  readonly files: readonly ContextFile[];
  readonly buildArgs: ImageBuild['buildArgs'];
  /** The content is added to them. */
  readonly labels: Labels;
  readonly platform: string | null;
  /** Pure. Another image of this kind: stale, with reasons in words, or as good as the planned one. */
  judge(older: ListedImage): ImageState;
}

/** What is not part of the image's content: how this machine reaches the world while it builds. */
export interface BuildRoute {
  /** Beside the plan's files: they are used in a stage that is thrown away. */
  readonly files: readonly ContextFile[];
  /** Proxies: names that Docker knows and keeps out of an image's history. */
  readonly buildArgs: ImageBuild['buildArgs'];
  /** What is not given to the build, in words. */
  readonly notes: readonly string[];
}

/** A kind of image that we build. All that the room does goes over a list of these. */
export interface ImageKind {
  readonly name: string;
  /** For people: "worker image". */
  readonly title: string;
  /** The name of the kind that it is built on; null is an image from outside. */
  readonly on: string | null;
  /** A name that the last one built gets beside its tag. */
  readonly latest: string | null;
  /** Undefined when the request asks for none. `below` is the image of the kind that it is built on. */
  plan(engine: ImageEngine, request: ImageRequest, below: ImagePlan | null): Promise<ImagePlan | undefined>;
  /** The image that the planned one is compared with when that is not there. */
  findOlder(engine: ImageEngine, plan: ImagePlan): Promise<ListedImage | undefined>;
  route(env: Environment): Promise<BuildRoute>;
}
