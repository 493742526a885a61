import type { Labels } from '../engine.ts';
import type { ContainerInspect } from './api.ts';
import type { Connection } from './connection.ts';

/** A name may hold any character; in a path it is escaped. */
export function containerPath(id: string, rest = ''): string {
  return `/containers/${encodeURIComponent(id)}${rest}`;
}

/** The slashes of an image's name are part of the path. */
export function imagePath(tag: string, rest = ''): string {
  return `/images/${tag.split('/').map(encodeURIComponent).join('/')}${rest}`;
}

/** The query for "has all these labels". */
export function withLabels(labels: Labels): { filters: string } {
  return { filters: JSON.stringify({ label: Object.entries(labels).map(([name, value]) => `${name}=${value}`) }) };
}

/** Undefined when there is no such container. */
export function inspectContainer(connection: Connection, id: string): Promise<ContainerInspect | undefined> {
  return connection.find({ what: `inspect container ${id}`, method: 'GET', path: containerPath(id, '/json') });
}
