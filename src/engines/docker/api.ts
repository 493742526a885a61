// The engine's own words, as far as we use them: https://docs.docker.com/reference/api/engine/

export interface ContainerCreate {
  readonly Image: string;
  readonly Entrypoint?: readonly string[];
  readonly Cmd?: readonly string[];
  readonly Healthcheck?: { readonly Test: readonly string[] };
  readonly Env: readonly string[];
  readonly User: string;
  readonly WorkingDir: string;
  readonly Hostname?: string;
  readonly NetworkDisabled: boolean;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Tty: boolean;
  readonly AttachStdin: boolean;
  readonly AttachStdout: boolean;
  readonly AttachStderr: boolean;
  readonly OpenStdin: boolean;
  readonly StdinOnce: boolean;
  readonly HostConfig: HostConfig;
}

export interface HostConfig {
  readonly Init: boolean;
  readonly AutoRemove: boolean;
  readonly Privileged: boolean;
  readonly CapDrop: readonly string[];
  readonly SecurityOpt: readonly string[];
  readonly ReadonlyRootfs: boolean;
  readonly IpcMode: string;
  readonly NetworkMode: string;
  readonly PidsLimit: number;
  readonly Memory: number;
  readonly MemorySwap: number;
  readonly Ulimits: readonly { readonly Name: string; readonly Soft: number; readonly Hard: number }[];
  readonly NanoCpus: number;
  readonly LogConfig: LogConfig;
  /** Options by target. */
  readonly Tmpfs: Readonly<Record<string, string>>;
  readonly Mounts: readonly MountSettings[];
  readonly Runtime?: string;
}

export interface LogConfig {
  readonly Type: 'none' | 'json-file';
  readonly Config: Readonly<Record<string, string>>;
}

export interface MountSettings {
  readonly Type: 'bind' | 'volume';
  /** A volume without one gets a name from the engine. */
  readonly Source?: string;
  readonly Target: string;
  readonly ReadOnly: boolean;
  readonly BindOptions?: {
    readonly Propagation: 'rprivate';
    readonly CreateMountpoint: boolean;
    readonly NonRecursive: boolean;
  };
  readonly VolumeOptions?: {
    readonly NoCopy: boolean;
    readonly DriverConfig: { readonly Name: 'local'; readonly Options: Readonly<Record<string, string>> };
  };
}

export interface ContainerInspect {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly Config: { readonly Labels: Readonly<Record<string, string>>; readonly Image: string };
  readonly State: ContainerState;
}

export interface ContainerState {
  readonly Status: string;
  readonly Running: boolean;
  readonly OOMKilled: boolean;
  readonly ExitCode: number;
  readonly StartedAt: string;
  readonly FinishedAt: string;
}

export interface ImageInspect {
  readonly Id: string;
  readonly Architecture: string;
  readonly Size: number;
  readonly Created: string;
  readonly RepoTags?: readonly string[] | null;
  /** Some engines leave out what is empty. */
  readonly Config: {
    readonly Labels?: Readonly<Record<string, string>> | null;
    readonly User?: string;
    readonly Env?: readonly string[] | null;
  };
}
