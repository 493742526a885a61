import type { ContainerInfo, ContainerSpec, Engine, Labels } from '../engine.ts';
import { engineErrors } from '../errors.ts';
import type { ContainerInspect } from './api.ts';
import type { Connection } from './connection.ts';
import { toCreateBody } from './container-spec.ts';
import type { Exits } from './exits.ts';
import { containerPath, inspectContainer, withLabels } from './requests.ts';

type ContainerCalls = Pick<
  Engine,
  | 'createContainer'
  | 'startContainer'
  | 'renameContainer'
  | 'inspectContainer'
  | 'listContainers'
  | 'waitContainer'
  | 'signalContainer'
  | 'removeContainer'
>;

const STATUSES: readonly ContainerInfo['status'][] = ['created', 'running', 'paused', 'exited'];

export function containerCalls(connection: Connection, exits: Exits): ContainerCalls {
  const inspect = async (id: string): Promise<ContainerInfo | undefined> => {
    const found = await inspectContainer(connection, id);
    return found === undefined ? undefined : toInfo(found);
  };
  return {
    createContainer: (spec) => create(connection, spec),
    startContainer: (id) => start(connection, exits, id),
    renameContainer: (id, name) =>
      connection.tell({
        what: `rename container ${id}`,
        method: 'POST',
        path: containerPath(id, '/rename'),
        query: { name },
        errors: { 409: () => engineErrors.CONTAINER_NAME_TAKEN({ name }) },
      }),
    inspectContainer: inspect,
    listContainers: async (labels) => {
      const found = await Promise.all((await listIds(connection, labels)).map(inspect));
      return found.filter((info) => info !== undefined);
    },
    waitContainer: (id, signal) => exits.exitOf(id, signal),
    signalContainer: (id, signal) =>
      connection.tell({
        what: `send ${signal} to container ${id}`,
        method: 'POST',
        path: containerPath(id, '/kill'),
        query: { signal },
        // 409: it is not running any more.
        fine: [404, 409],
      }),
    removeContainer: (id) => remove(connection, id),
  };
}

async function create(connection: Connection, spec: ContainerSpec): Promise<string> {
  const { Id } = await connection.ask<{ Id: string }>({
    what: `create container ${spec.name}`,
    method: 'POST',
    path: '/containers/create',
    query: { name: spec.name },
    body: toCreateBody(spec),
    slow: true,
    errors: {
      404: () => engineErrors.IMAGE_MISSING({ image: spec.image }),
      409: () => engineErrors.CONTAINER_NAME_TAKEN({ name: spec.name }),
    },
  });
  return Id;
}

async function start(connection: Connection, exits: Exits, id: string): Promise<void> {
  await exits.expect(id);
  try {
    const path = containerPath(id, '/start');
    await connection.tell({ what: `start container ${id}`, method: 'POST', path, slow: true });
  } catch (error) {
    exits.forget(id);
    throw error;
  }
}

/** The list has creation times in seconds only, so each container is inspected; one that goes meanwhile is left out. */
async function listIds(connection: Connection, labels: Labels): Promise<string[]> {
  const found = await connection.ask<{ Id: string }[]>({
    what: 'list containers',
    method: 'GET',
    path: '/containers/json',
    query: { all: true, ...withLabels(labels) },
  });
  return found.map(({ Id }) => Id);
}

async function remove(connection: Connection, id: string): Promise<void> {
  const path = containerPath(id);
  const what = `remove container ${id}`;
  const query = { force: true, v: true };
  // 409: it is being removed already, as those are that have just ended.
  await connection.tell({ what, method: 'DELETE', path, query, fine: [404, 409], slow: true });
  const gone = { condition: 'removed' };
  await connection.tell({ what, method: 'POST', path: `${path}/wait`, query: gone, fine: [404], slow: true });
}

function toInfo({ Id, Name, Config, State, Created }: ContainerInspect): ContainerInfo {
  const status = STATUSES.find((known) => known === State.Status) ?? 'other';
  return { id: Id, name: Name.replace(/^\//, ''), labels: Config.Labels, status, createdAt: Created };
}
