import type { Engine, EngineInfo } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { USUAL_LIMITS, openConnection } from './connection.ts';
import type { Connection, Limits } from './connection.ts';
import { containerCalls } from './containers.ts';
import type { DockerEndpoint } from './endpoint.ts';
import { executionCalls } from './executions.ts';
import { createExits } from './exits.ts';
import { imageCalls } from './images.ts';
import { streamCalls } from './streams.ts';
import { volumeCalls } from './volumes.ts';

/** The first version that has all that is used here: Docker 20.10, Podman 4. */
const OLDEST_API = [1, 41] as const;

/** As images name them, so that engine and image can be compared. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };

/** An engine with Docker's API at a known place. Nothing is sent before the first call. */
export function createDockerEngine(endpoint: DockerEndpoint, limits: Limits = USUAL_LIMITS): Engine {
  const connection = openConnection(endpoint, limits);
  return {
    name: 'docker',
    info: () => info(connection),
    ...imageCalls(connection),
    ...volumeCalls(connection),
    ...containerCalls(connection, createExits(connection)),
    ...streamCalls(connection),
    ...executionCalls(connection),
  };
}

/** The name and version of the engine, as "Docker 20.10.24". Throws when none answers, or one that is too old. */
export async function greet(endpoint: DockerEndpoint, limits: Limits): Promise<string> {
  const connection = openConnection(endpoint, limits);
  const call = { what: 'tell its version', method: 'GET', path: '/version' } as const;
  const { Version, ApiVersion, Components } = await connection.ask<VersionAnswer>(call);
  const isPodman = Components?.some(({ Name }) => Name.startsWith('Podman')) ?? false;
  const name = `${isPodman ? 'Podman' : 'Docker'} ${Version}`;
  if (isOlder(ApiVersion)) {
    const reason = `${name} speaks version ${ApiVersion} of the API; ${OLDEST_API.join('.')} is needed`;
    throw engineErrors.ENGINE_FAILED({ call: call.what, reason });
  }
  return name;
}

interface VersionAnswer {
  readonly Version: string;
  readonly ApiVersion: string;
  readonly Components?: readonly { readonly Name: string }[];
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < OLDEST_API[0] || (major === OLDEST_API[0] && minor < OLDEST_API[1]);
}

interface InfoAnswer {
  readonly ID?: string;
  readonly ServerVersion: string;
  readonly OSType: string;
  readonly Architecture: string;
  readonly NCPU: number;
  readonly MemTotal: number;
  readonly MemoryLimit: boolean;
  readonly CpuCfsQuota: boolean;
  readonly PidsLimit: boolean;
  readonly SecurityOptions?: readonly string[] | null;
  readonly Runtimes?: Readonly<Record<string, unknown>> | null;
  readonly DefaultRuntime?: string;
  /** Only in Podman's answer. */
  readonly BuildahVersion?: string;
}

async function info(connection: Connection): Promise<EngineInfo> {
  const answer = await connection.ask<InfoAnswer>({ what: 'describe itself', method: 'GET', path: '/info' });
  return {
    id: answer.ID ?? '',
    version: answer.ServerVersion,
    os: answer.OSType,
    arch: ARCHITECTURES[answer.Architecture] ?? answer.Architecture,
    cpus: answer.NCPU,
    memoryBytes: answer.MemTotal,
    mapsUsers: (answer.SecurityOptions ?? []).some((option) => /^name=(rootless|userns)\b/.test(option)),
    takesSeccomp:
      answer.BuildahVersion === undefined &&
      (answer.SecurityOptions ?? []).some((option) => /^name=seccomp\b/.test(option)),
    ownKernels: false,
    lacks: [],
    runtimes: Object.keys(answer.Runtimes ?? {}),
    defaultRuntime: answer.DefaultRuntime || 'runc',
    limits: { memory: answer.MemoryLimit, cpus: answer.CpuCfsQuota, pids: answer.PidsLimit },
    endpoint: connection.place,
  };
}
