export { findEngine, searchEngine } from './detect.ts';
export { createDockerEngine } from './docker/docker-engine.ts';
export { createAppleEngine } from './apple/apple-engine.ts';
export { LACKS } from './lacks.ts';
export type { Lack } from './lacks.ts';
export type {
  Attachment,
  ContainerExit,
  ContainerInfo,
  ContainerSpec,
  Engine,
  EngineInfo,
  Execution,
  ImageBuild,
  ImageInfo,
  Labels,
  ListedImage,
  Mount,
  TerminalSize,
  VolumeInfo,
} from './engine.ts';
