import type { Engine } from '../engines/index.ts';

export type { ImageBuild, ImageInfo, Labels, ListedImage } from '../engines/index.ts';

/** What images need of an engine. */
export type ImageEngine = Pick<
  Engine,
  'info' | 'inspectImage' | 'listImages' | 'buildImage' | 'tagImage' | 'removeImage'
>;
