export { findEngine, searchEngine } from './detect.ts';
export { createDockerEngine } from './docker/docker-engine.ts';
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
