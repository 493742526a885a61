import type { ContainerInfo, ContainerSpec, Engine } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import type { FoundContainer } from './answers.ts';
import { refusal } from './cli.ts';
import type { Cli } from './cli.ts';
import { isTaken } from './complaints.ts';
import { toCreateArguments } from './container-arguments.ts';
import { findImage } from './images.ts';
import { inspectContainer, listContainers } from './inspect.ts';
import { hasLabels } from './labels.ts';
import { removeContainer } from './removal.ts';
import type { Runs } from './runs.ts';
import type { Version } from './version.ts';

type ContainerCalls = Pick<
  Engine,
  | 'createContainer'
  | 'attach'
  | 'startContainer'
  | 'renameContainer'
  | 'inspectContainer'
  | 'listContainers'
  | 'waitContainer'
  | 'signalContainer'
  | 'removeContainer'
>;

/** The id of a container is its name. */
export function containerCalls(cli: Cli, runs: Runs, version: () => Promise<Version>): ContainerCalls {
  return {
    createContainer: async (spec) => {
      const id = await create(cli, spec, await version());
      runs.created(id, spec.stdin);
      return id;
    },
    attach: (id) => runs.attach(id),
    startContainer: (id) => runs.start(id),
    renameContainer: (id) => {
      const reason = 'Apple\'s "container" gives no container another name';
      return Promise.reject(engineErrors.ENGINE_FAILED({ call: `rename container ${id}`, reason }));
    },
    inspectContainer: async (id) => {
      const found = await inspectContainer(cli, id);
      return found && toInfo(found);
    },
    listContainers: async (labels) =>
      (await listContainers(cli)).filter((found) => hasLabels(found.labels, labels)).map(toInfo),
    waitContainer: (id, signal) => runs.exitOf(id, signal),
    signalContainer: (id, signal) => kill(cli, id, signal),
    removeContainer: (id) => removeContainer(cli, id),
  };
}

const toInfo = ({ id, name, labels, status, createdAt }: FoundContainer): ContainerInfo => ({
  id,
  name,
  labels,
  status,
  createdAt,
});

async function create(cli: Cli, spec: ContainerSpec, version: Version): Promise<string> {
  // The program would look for a missing image in a registry.
  const image = await findImage(cli, spec.image);
  if (image === undefined) throw engineErrors.IMAGE_MISSING({ image: spec.image });
  const what = `create container ${spec.name}`;
  const args = toCreateArguments({ ...spec, image: image.name }, version);
  const answer = await cli.ask({ what, args, takes: 'slow' });
  if (answer.code === 0) return spec.name;
  if (isTaken(answer.stderr)) throw engineErrors.CONTAINER_NAME_TAKEN({ name: spec.name });
  throw refusal({ what }, answer, cli.place);
}

async function kill(cli: Cli, id: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const what = `send ${signal} to container ${id}`;
  const answer = await cli.ask({ what, args: ['kill', '--signal', signal, id] });
  if (answer.code === 0) return;
  const found = await inspectContainer(cli, id);
  if (found?.status === 'running') throw refusal({ what }, answer, cli.place);
}
