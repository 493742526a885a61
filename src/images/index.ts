export { buildImages } from './build-images.ts';
export type { BuildProgress, BuildRequest, BuiltImage } from './build-images.ts';
export type { ImageEngine } from './image-engine.ts';
export { PRUNE_COMMAND } from './labels.ts';
export { findRunImage } from './images.ts';
export type { ImageRequest, RunImage } from './images.ts';
export { CLAUDE_CODE_VERSION, DEFAULT_BASE } from './worker-image.ts';
export type { ImageState } from './worker-image.ts';
