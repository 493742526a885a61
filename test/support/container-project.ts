import { execFileSync } from 'node:child_process';
import { createProject } from './project.ts';
import type { TestProject } from './project.ts';

/** What `docker inspect` says, as far as tests look at it. */
export interface Inspected {
  readonly Id: string;
  readonly Name: string;
  /** Its id. */
  readonly Image: string;
  /** Where the engine keeps what it has printed. */
  readonly LogPath: string;
  readonly State: { readonly Running: boolean; readonly Status: string };
  readonly Config: {
    readonly Labels: Readonly<Record<string, string>>;
    /** As it was asked for. */
    readonly Image: string;
    readonly User: string;
    readonly Env: readonly string[];
  };
  readonly HostConfig: Readonly<Record<string, unknown>>;
  readonly Mounts: readonly {
    readonly Type: string;
    readonly Source: string;
    readonly Destination: string;
    readonly RW: boolean;
  }[];
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, unknown>> };
}

/** A repository whose features are built in containers on the real engine. */
export interface ContainerProject extends TestProject {
  /** Writes the user's own settings: what repositories may mount, YAML entries. */
  allowMounts(...entries: readonly string[]): Promise<void>;
  /** Containers of this repository's runs, whatever state they are in, without spares: those come and go by themselves. */
  containers(): Inspected[];
  spares(): Inspected[];
  /** Names of all containers, volumes and networks of this repository's runs. */
  leftovers(): string[];
}

/**
 * `container` is what stands under `workers.container`, as YAML lines without indentation; workers have no network
 * unless it says otherwise, so that a test pays for an egress proxy only when it needs one.
 */
export async function createContainerProject(
  options: { name?: string; env?: NodeJS.ProcessEnv; container?: string; workers?: string } = {},
): Promise<ContainerProject> {
  const project = await createProject({ ...options, mode: 'as configured' });
  const lines = (options.container ?? 'network: none').split('\n').map((line) => `    ${line}`);
  const more = (options.workers ?? '').split('\n').map((line) => `  ${line}`);
  await project.config(['workers:', '  mode: container', ...more, '  container:', ...lines, ''].join('\n'));
  const label = `label=mahabharatha.repo=${project.folder}`;
  const list = (...args: string[]): string[] =>
    run(...args, '--filter', label)
      .split('\n')
      .filter((line) => line !== '');
  const all = (): Inspected[] => inspect(list('ps', '--all', '--no-trunc', '--quiet'));
  return {
    ...project,
    allowMounts: (...entries) =>
      project.write('../home/.config/mahabharatha/settings.yaml', `mounts: { allow: [${entries.join(', ')}] }\n`),
    containers: () => all().filter((container) => !isSpare(container)),
    spares: () => all().filter(isSpare),
    leftovers: () => [
      ...list('ps', '--all', '--format', '{{.Names}}'),
      ...list('volume', 'ls', '--format', '{{.Name}}'),
      ...list('network', 'ls', '--format', '{{.Name}}'),
    ],
  };
}

const isSpare = ({ Name }: Inspected): boolean => Name.startsWith('/mahabharatha-spare-');

function run(...args: string[]): string {
  return execFileSync('docker', args, { encoding: 'utf8' });
}

/** One that goes in the meantime is not there any more. */
function inspect(ids: readonly string[]): Inspected[] {
  return ids.flatMap((id) => {
    try {
      return JSON.parse(run('inspect', id)) as Inspected[];
    } catch {
      return [];
    }
  });
}
