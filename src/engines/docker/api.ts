// The engine's own words, as far as we read them: https://docs.docker.com/reference/api/engine/

export interface ContainerInspect {
  readonly Id: string;
  readonly Name: string;
  readonly Created: string;
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
  readonly State: { readonly Status: string; readonly OOMKilled: boolean };
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
    readonly Volumes?: Readonly<Record<string, unknown>> | null;
  };
}
