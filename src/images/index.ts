export { buildImages } from './build-images.ts';
export type { BuildProgress, BuildRequest, BuiltImage } from './build-images.ts';
export { findRunImage, findSandboxImage } from './find-images.ts';
export type { RunImage } from './find-images.ts';
export type { ImageEngine, ImageRequest } from './kind.ts';
export { BUN_KINDS, RUN_KINDS, SANDBOX_KINDS } from './kinds.ts';
export { PRUNE_COMMAND } from './labels.ts';
export { CLAUDE_CODE_VERSION, CODEX_VERSION, DEFAULT_BASE, GEMINI_VERSION, OPENCODE_VERSION } from './package-image.ts';
