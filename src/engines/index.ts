export { findEngine, searchEngine } from './detect.ts';
export { createDockerEngine } from './docker/docker-engine.ts';
export type { DockerEndpoint } from './docker/endpoint.ts';
export type {
  Attachment,
  ContainerExit,
  ContainerInfo,
  ContainerSpec,
  Engine,
  EngineInfo,
  ImageBuild,
  ImageInfo,
  Labels,
  ListedImage,
  LogOptions,
  LogSink,
  Mount,
  VolumeInfo,
} from './engine.ts';
