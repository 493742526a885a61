import type { ContainerInspect } from './api.ts';
import type { Connection } from './connection.ts';
import { containerPath } from './paths.ts';

/** Undefined when there is no such container. */
export function inspectContainer(connection: Connection, id: string): Promise<ContainerInspect | undefined> {
  return connection.find({ what: `inspect container ${id}`, method: 'GET', path: containerPath(id, '/json') });
}
