import type { Readable, Writable } from 'node:stream';
import type { Lack } from './lacks.ts';

/**
 * A container runtime in our own words, without any vendor's types. The types have no field for what is dangerous: no
 * privileged mode, no host network, no added capability, no device.
 */
export interface Engine {
  readonly name: string;
  /** Throws ENGINE_UNREACHABLE when it does not answer. */
  info(): Promise<EngineInfo>;
  /** Undefined when there is no such image. */
  inspectImage(tag: string): Promise<ImageInfo | undefined>;
  /** Resolves with the image's id; throws IMAGE_BUILD_FAILED with the end of the output. */
  buildImage(plan: ImageBuild, onLine: (line: string) => void): Promise<string>;
  /** Fetches an image from its registry. Throws IMAGE_PULL_FAILED. */
  pullImage(name: string, onLine: (line: string) => void, signal?: AbortSignal): Promise<void>;
  /** All images with these labels that have a name. An image that is removed meanwhile is no error. */
  listImages(labels: Labels): Promise<ListedImage[]>;
  /** Gives an image a name, even one that it has already. Throws IMAGE_MISSING. */
  tagImage(id: string, tag: string): Promise<void>;
  /**
   * Removes one name, and with the last name the image. An image without a name is removed by its id. Throws
   * ENGINE_FAILED when a container uses the image and this is its last name. A missing image is fine.
   */
  removeImage(tag: string): Promise<void>;
  /** An existing volume with these labels is fine; one with other labels is not ours: throws ENGINE_FAILED. */
  createVolume(name: string, labels: Labels): Promise<void>;
  /** A missing one is fine. */
  removeVolume(name: string): Promise<void>;
  listVolumes(labels: Labels): Promise<VolumeInfo[]>;
  /** Throws IMAGE_MISSING, CONTAINER_NAME_TAKEN or ENGINE_FAILED. */
  createContainer(spec: ContainerSpec): Promise<string>;
  /**
   * Called before the start, so that no output is lost. The container's stdin stays open until `close`. Both outputs must
   * be read or destroyed: one that is not read blocks the other.
   */
  attach(id: string): Promise<Attachment>;
  startContainer(id: string): Promise<void>;
  /** Also of a running one. Throws CONTAINER_NAME_TAKEN, and ENGINE_FAILED when there is no such container, or it lacks "renames". */
  renameContainer(id: string, name: string): Promise<void>;
  /** Undefined when there is no such container. */
  inspectContainer(id: string): Promise<ContainerInfo | undefined>;
  listContainers(labels: Labels): Promise<ContainerInfo[]>;
  /**
   * Resolves when the container has ended and is removed, or did not exist. In the process that has started it, the exit
   * is known however late this is called. Rejects with the signal's reason, and with ENGINE_UNREACHABLE when the engine
   * goes away: the container may still run then, so the caller waits again.
   */
  waitContainer(id: string, signal?: AbortSignal): Promise<ContainerExit>;
  /** A container that is gone is fine. */
  signalContainer(id: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Works on a running container, too; a missing one is fine. */
  removeContainer(id: string): Promise<void>;
  /** Runs one more program in a running container, under its user and all its limits. */
  execute(id: string, wish: ProgramWish): Promise<Execution>;
  /** What the container has printed, and with `follow` what it will print. */
  logs(id: string, options: LogOptions, sink: LogSink): Promise<void>;
}

export type Labels = Readonly<Record<string, string>>;

export interface EngineInfo {
  /** Tells two engines apart; empty when this one has none. */
  readonly id: string;
  readonly version: string;
  readonly os: string;
  readonly arch: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** User ids inside a container are other ids outside, as with a rootless engine. */
  readonly mapsUsers: boolean;
  /** Whether it accepts our list of system calls: Podman wants it in a file, and some kernels have no seccomp. */
  readonly takesSeccomp: boolean;
  /** Each container is a virtual machine: what reaches its kernel does not reach that of this machine. */
  readonly ownKernels: boolean;
  /** What it is without. Wishes for it are not obeyed. */
  readonly lacks: readonly Lack[];
  readonly runtimes: readonly string[];
  /** The runtime of containers that name none. */
  readonly defaultRuntime: string;
  /** Which limits it enforces: old kernels and rootless engines run containers without some of them. */
  readonly limits: { readonly memory: boolean; readonly cpus: boolean; readonly pids: boolean };
  /** Where it was found: a socket's path or an address. */
  readonly endpoint: string;
}

export interface ListedImage {
  readonly id: string;
  readonly labels: Labels;
  readonly bytes: number;
  readonly createdAt: string;
  /** All its names. */
  readonly tags: readonly string[];
}

export interface ImageInfo extends ListedImage {
  readonly user: string;
  readonly arch: string;
  /** The environment that its containers start with. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders that its containers would have on the disk of the engine, each with nothing else mounted there. */
  readonly volumes: readonly string[];
}

export interface ImageBuild {
  readonly tag: string;
  /** The whole build context: the engine reads nothing else of the disk. */
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
  | OverlayMount
  | {
      readonly kind: 'tmpfs';
      readonly target: string;
      readonly bytes: number;
      readonly mode: number;
      readonly uid: number;
      readonly gid: number;
      readonly exec: boolean;
    };

/** A folder that shows others below what is written into it. Only `upper` changes. All folders are of the engine's machine. */
export interface OverlayMount {
  readonly kind: 'overlay';
  /** From the top down. */
  readonly lower: readonly string[];
  readonly upper: string;
  /** For the kernel's own use, beside `upper` on the same file system. */
  readonly work: string;
  readonly target: string;
}

export interface VolumeInfo {
  readonly name: string;
  readonly labels: Labels;
  readonly createdAt: string;
}

/**
 * What varies between containers. All of them drop their capabilities, get no new privileges, may make the system calls
 * of our list alone, have few terminals, a read-only root and an init, and are removed when they end.
 */
export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  /** Replaces entrypoint and command of the image; empty keeps them. */
  readonly command: readonly string[];
  /** No secrets, since `inspect` shows it. Null removes a variable of the image. */
  readonly env: Readonly<Record<string, string | null>>;
  /** Never 0. */
  readonly uid: number;
  readonly gid: number;
  /**
   * The first program is root, with the rights to be another user and to signal processes of others, and no further one;
   * all that it starts is to be another user. For the agent of a sandbox alone (ADR 38). `uid` and `gid` are then not used.
   */
  readonly switchesUsers?: boolean;
  /** It runs one program of ours as root, with the right to give files to other users and no further one. `uid` and `gid` are then not used. */
  readonly givesFiles?: boolean;
  /** Its programs cannot make System V objects and message queues, which outlive the program and its user. */
  readonly withoutIpcObjects?: boolean;
  readonly workdir: string;
  /** Without one, the container's id. */
  readonly hostname?: string;
  readonly labels: Labels;
  readonly mounts: readonly Mount[];
  readonly network: 'none' | 'bridge';
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  /** The size limit of every file that it writes. */
  readonly fileBytes: number;
  /** Stdin is open for one attachment, and ends with it. */
  readonly stdin: boolean;
  /** An OCI runtime other than runc, say "runsc". */
  readonly runtime: string | null;
  /** What `docker logs` keeps; null keeps nothing. */
  readonly logBytes: number | null;
}

export interface ContainerInfo {
  readonly id: string;
  readonly name: string;
  readonly labels: Labels;
  readonly status: 'created' | 'running' | 'paused' | 'exited' | 'other';
  /** As exact as the engine has it: it tells two containers of one name apart. */
  readonly createdAt: string;
}

export interface ContainerExit {
  /** Null when the container was gone before its exit could be asked for, or has never run. */
  readonly code: number | null;
  /**
   * A process in it was killed because its memory was used up. Engines lose this event now and then: a code of 137 without
   * a SIGKILL of ours may mean the same.
   */
  readonly oomKilled: boolean;
}

/** The streams end when the container ends or the engine goes away: `waitContainer` tells which. */
export interface Attachment {
  /** Ending it ends the container's stdin. */
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Closes all three streams; the container's stdin ends. */
  close(): void;
}

/** A program to be run in a container that runs already. */
export interface ProgramWish {
  readonly command: readonly [string, ...string[]];
  /** On top of the container's own; null removes one. No argument list and no `inspect` shows it. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly workdir: string;
  /** With a terminal of its own, of this size; null for plain streams. */
  readonly terminal: TerminalSize | null;
}

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** With a terminal all output is in `stdout`. The engine lets the program live on when the connection is closed. */
export interface Execution extends Attachment {
  resize(size: TerminalSize): Promise<void>;
  /** Resolves when the output is over. Null: the container, or the engine, has gone first. */
  exit(): Promise<number | null>;
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
