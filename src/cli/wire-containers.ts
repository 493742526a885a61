import { makeHandover } from '../credentials/index.ts';
import { openSync } from 'node:fs';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/index.ts';
import { createContainerLauncher, workerIdentity } from '../launchers/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import { workerEnvironment } from '../git/index.ts';
import { run, startDaemon } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { createRedactor } from '../logs/index.ts';
import type { AgentSpec, Handover } from '../protocol/index.ts';
import type { Mode } from './choose-mode.ts';
import type { Project } from './project.ts';
import type { Workers } from './wire.ts';

export interface ContainerWishes {
  readonly project: Project;
  readonly config: Config;
  readonly mode: Mode & { name: 'container' };
  readonly agent: AgentSpec;
  readonly env: Environment;
}

/** A launcher of containers with everything that the configuration says of them. */
export async function wireContainers(wishes: ContainerWishes): Promise<Workers> {
  const { mode, config, env } = wishes;
  const { handover } = await handoverFor(wishes);
  const settings = settingsOf(wishes, handover);
  return {
    launcher: createContainerLauncher({
      engine: mode.engine,
      settings,
      startSweeper: (run) => startSweeper({ ...run, leaseMs: config.workers.lease }, env),
    }),
    env: workerEnvironment(handover.env),
    redact: createRedactor(handover.secrets),
    warnings: [],
  };
}

function settingsOf(
  { project, config, mode }: ContainerWishes,
  { agent, secrets }: Pick<Handover, 'agent' | 'secrets'>,
): ContainerSettings {
  const { memory, cpus, pids, tmpfs, disk, network, runtime } = config.workers.container;
  return {
    image: mode.image,
    repo: project.repository.root,
    ...workerIdentity(process.getuid?.() ?? 0, process.getgid?.() ?? 0),
    memoryBytes: memory,
    cpus,
    pids,
    tmpfsBytes: tmpfs,
    diskBytes: disk,
    network,
    egressRules: '',
    mounts: [],
    caches: [],
    runtime: runtime ?? null,
    leaseMs: config.workers.lease,
    handover: { agent, secrets },
  };
}

function handoverFor({ project, config, agent, env }: ContainerWishes): ReturnType<typeof makeHandover> {
  return makeHandover({
    env,
    platform: process.platform,
    run,
    configFile: project.paths.config,
    names: config.workers.container.env,
    agent: agent.kind === 'command' ? { ...agent, names: config.agents[agent.name]?.env ?? [] } : agent,
  });
}

/** Lives as long as we do and longer; what it would say nobody hears. */
function startSweeper(run: { runId: string; lease: string; leaseMs: number }, env: Environment): { close(): void } {
  const program = fileURLToPath(new URL('../sweeper/sweeper.js', import.meta.url));
  const args = [program, '--run', run.runId, '--lease', run.lease, '--lease-ms', String(run.leaseMs)];
  const child = startDaemon(process.execPath, args, { cwd: '/', env, output: openSync(devNull, 'a') });
  child.on('error', () => undefined);
  child.unref();
  return { close: () => void child.stdin?.end('done\n') };
}
