/** Whose containers a list is for, in the words of its warnings. */
export interface Audience {
  /** The setting that the list is in; null where it is fixed. */
  readonly setting: string | null;
  /** As in "workers cannot install npm packages". */
  readonly who: string;
}

export const WORKERS: Audience = { setting: 'workers.container.allow', who: 'workers' };

/** Pure. What it means that npm names no registry. */
export function withoutRegistry({ setting, who }: Audience, why: string): string {
  if (setting === null)
    return `No packages of npm can be installed, because npm on this machine names no registry (${why}). Install npm here, or name a registry in its configuration.`;
  return `The preset "npm" in ${setting} is empty (${why}): ${who} cannot install npm packages. Name your registry's host there, or install npm on this machine.`;
}
