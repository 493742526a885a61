import { availableParallelism, totalmem } from 'node:os';
import type { Environment } from '../../lib/index.ts';
import type { Engine, EngineInfo } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import { USUAL_LIMITS, openCli, stoppedAt } from './cli.ts';
import type { Cli, Limits } from './cli.ts';
import { containerCalls } from './containers.ts';
import { execute } from './executions.ts';
import { ARCHITECTURE, imageCalls } from './images.ts';
import { readLogs } from './logs.ts';
import { createRuns } from './runs.ts';
import { lacksOf, readVersion } from './version.ts';
import type { Version } from './version.ts';
import { volumeCalls } from './volumes.ts';

const RUNTIME = 'container-runtime-linux';

/** Apple's `container`, by its program. Nothing is started before the first call. */
export function createAppleEngine(program: string, env: Environment, limits: Limits = USUAL_LIMITS): Engine {
  const cli = openCli(program, env, limits);
  let known: Version | undefined;
  const version = async (): Promise<Version> => (known ??= await askVersion(cli));
  return {
    name: 'apple',
    info: async () => info(cli, await version()),
    ...imageCalls(cli),
    ...volumeCalls(cli),
    ...containerCalls(cli, createRuns(cli), version),
    execute: (id, wish) => execute(cli, id, wish),
    logs: (id, options, sink) => readLogs(cli, id, options, sink),
  };
}

/** The name and version of the engine, as "Apple container 1.2.2". Throws when its services are not running. */
export async function greetApple(program: string, env: Environment, limits: Limits): Promise<string> {
  const cli = openCli(program, env, limits);
  const { text } = await askVersion(cli);
  await expectServices(cli);
  return `Apple container ${text}`;
}

async function askVersion(cli: Cli): Promise<Version> {
  return readVersion(await cli.tell({ what: 'tell its version', args: ['--version'] }));
}

async function expectServices(cli: Cli): Promise<void> {
  const { code } = await cli.ask({ what: 'tell its state', args: ['system', 'status'] });
  if (code !== 0) throw engineErrors.ENGINE_UNREACHABLE({ tried: [stoppedAt(cli.place)] });
}

async function info(cli: Cli, version: Version): Promise<EngineInfo> {
  await expectServices(cli);
  return {
    id: '',
    version: version.text,
    os: 'linux',
    arch: ARCHITECTURE,
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    mapsUsers: false,
    takesSeccomp: false,
    ownKernels: true,
    lacks: lacksOf(version),
    runtimes: [RUNTIME],
    defaultRuntime: RUNTIME,
    limits: { memory: true, cpus: true, pids: false },
    endpoint: cli.place,
  };
}
