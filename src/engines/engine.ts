import type { Readable, Writable } from 'node:stream';

/**
 * What we ask of a container runtime, in our own words: no vendor's type crosses this line. What is dangerous cannot be
 * said: there is no privileged mode, no host network, no added capability, no device.
 */
export interface Engine {
  readonly name: string;
  /** Is it there and does it answer? Throws ENGINE_UNREACHABLE. */
  info(): Promise<EngineInfo>;
  /** Undefined when there is no such image. */
  inspectImage(tag: string): Promise<ImageInfo | undefined>;
  /** Resolves with the image's id; throws IMAGE_BUILD_FAILED with the last output. */
  buildImage(plan: ImageBuild, onLine: (line: string) => void): Promise<string>;
  /** All images with these labels that have a name. Takes one question, and one that goes meanwhile is no error. */
  listImages(labels: Labels): Promise<ListedImage[]>;
  /** Gives an image a name, also one that it has. Throws IMAGE_MISSING. */
  tagImage(id: string, tag: string): Promise<void>;
  /**
   * Takes one name away, and with its last name (or by its id, when it has none) the image. One that a container has
   * stays with its last name: ENGINE_FAILED. A missing image is fine.
   */
  removeImage(tag: string): Promise<void>;
  /** One that is there with these labels is fine; one of that name with others is not ours: ENGINE_FAILED. */
  createVolume(name: string, labels: Labels): Promise<void>;
  /** A missing one is fine. */
  removeVolume(name: string): Promise<void>;
  listVolumes(labels: Labels): Promise<VolumeInfo[]>;
  /** Throws IMAGE_MISSING, CONTAINER_NAME_TAKEN or ENGINE_FAILED. */
  createContainer(spec: ContainerSpec): Promise<string>;
  /**
   * Attaches before the start, so that no output is lost; holding stdin open keeps the lease of a program that waits for its end.
   * Both outputs must be read (or destroyed): one that is left alone holds up the other.
   */
  attach(id: string): Promise<Attachment>;
  startContainer(id: string): Promise<void>;
  /** Undefined when there is no such container. */
  inspectContainer(id: string): Promise<ContainerInfo | undefined>;
  listContainers(labels: Labels): Promise<ContainerInfo[]>;
  /**
   * Resolves when it has ended and is removed, or was gone already. The process that has started it learns how it ended,
   * however late it asks. Rejects with the signal's reason when that fires, and with ENGINE_UNREACHABLE when the engine
   * goes away: the container may live on, ask again.
   */
  waitContainer(id: string, signal?: AbortSignal): Promise<ContainerExit>;
  /** A container that is gone is fine. */
  signalContainer(id: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Also a running one; a missing one is fine. */
  removeContainer(id: string): Promise<void>;
  /** What it has printed, and with `follow` what it will print; stdout and stderr apart. */
  logs(id: string, options: LogOptions, sink: LogSink): Promise<void>;
}

export type Labels = Readonly<Record<string, string>>;

export interface EngineInfo {
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** Users inside are others outside, as with a rootless engine. */
  readonly mapsUsers: boolean;
  /** Whether it takes our list of system calls with a container: Podman wants a file for it, and some kernels cannot. */
  readonly takesSeccomp: boolean;
  readonly runtimes: readonly string[];
  /** The one that containers get when none is named. */
  readonly defaultRuntime: string;
  /** Which limits it can enforce: old kernels and rootless engines cannot do all, and run containers all the same. */
  readonly limits: { readonly memory: boolean; readonly cpus: boolean; readonly pids: boolean };
  /** Where it was found: a socket's path or an address. */
  readonly endpoint: string;
}

export interface ListedImage {
  readonly id: string;
  readonly labels: Labels;
  readonly bytes: number;
  readonly createdAt: string;
  /** All its names; none when it has lost them or has never had one. */
  readonly tags: readonly string[];
}

export interface ImageInfo extends ListedImage {
  readonly user: string;
  readonly arch: string;
  /** The variables that it gives its containers. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders that its containers would have on the disk of the engine, each with nothing else mounted there. */
  readonly volumes: readonly string[];
}

export interface ImageBuild {
  readonly tag: string;
  /** The build context, file by file: nothing else of the disk goes to the engine. */
  readonly files: readonly { readonly path: string; readonly content: Uint8Array; readonly mode: number }[];
  readonly dockerfile: string;
  readonly buildArgs: Readonly<Record<string, string>>;
  readonly labels: Labels;
  readonly platform: string | null;
  readonly noCache: boolean;
  readonly signal?: AbortSignal;
}

export type Mount =
  | { readonly kind: 'bind'; readonly source: string; readonly target: string; readonly readOnly: boolean }
  | { readonly kind: 'volume'; readonly name: string; readonly target: string; readonly readOnly: boolean }
  | {
      readonly kind: 'tmpfs';
      readonly target: string;
      readonly bytes: number;
      readonly mode: number;
      readonly uid: number;
      readonly gid: number;
      readonly exec: boolean;
    };

export interface VolumeInfo {
  readonly name: string;
  readonly labels: Labels;
}

/**
 * A container as we make them all: capabilities dropped, no new privileges, the system calls of our own list, few
 * terminals, read-only root, an init, removed when it ends.
 */
export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  /** The whole command, in place of the image's entrypoint too; empty for what the image brings. */
  readonly command: readonly string[];
  /** `inspect` shows it: no secrets. Null takes away a variable of the image. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Never 0. */
  readonly uid: number;
  readonly gid: number;
  readonly workdir: string;
  /** What it calls itself; without one, by its id. */
  readonly hostname?: string;
  readonly labels: Labels;
  readonly mounts: readonly Mount[];
  readonly network: 'none' | 'bridge';
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  /** No file in it, wherever that is, gets larger. */
  readonly fileBytes: number;
  /** Its stdin is kept open for one attachment; its end ends with it. */
  readonly stdin: boolean;
  /** Another OCI runtime than runc, say "runsc". */
  readonly runtime: string | null;
  /** What `docker logs` keeps; null keeps nothing. */
  readonly logBytes: number | null;
}

export interface ContainerInfo {
  readonly id: string;
  readonly name: string;
  readonly labels: Labels;
  readonly status: 'created' | 'running' | 'paused' | 'exited' | 'other';
  /** To the nanosecond, where the engine has it: it tells two containers of one name apart. */
  readonly createdAt: string;
}

export interface ContainerExit {
  /** Null when it was gone before it could be asked, or has never run. */
  readonly code: number | null;
  /**
   * Some process in it was killed because its memory was used up. Engines lose this news now and then: a code of 137
   * that was not asked for may mean the same.
   */
  readonly oomKilled: boolean;
}

/** The streams end with the container, and also when the engine goes away: `waitContainer` tells which. */
export interface Attachment {
  /** Ending it ends the container's stdin. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Lets go of all three; the container's stdin ends. */
  close(): void;
}

export interface LogOptions {
  readonly follow: boolean;
  readonly tail: number | 'all';
  /** Ends the reading, without an error. */
  readonly signal?: AbortSignal;
}

export interface LogSink {
  stdout(chunk: Buffer): void;
  stderr(chunk: Buffer): void;
}
