import type { Readable } from 'node:stream';
import type { Connection } from './connection.ts';
import { jsonLines } from './json-lines.ts';

/** A container has ended, or a process in it was killed because memory was used up. */
export interface ContainerEvent {
  readonly kind: 'die' | 'oom';
  readonly id: string;
}

export interface EventStream {
  /** Resolves with true when the engine reports events: from then on none is missed. */
  readonly begun: Promise<boolean>;
  close(): void;
}

interface EventMessage {
  readonly Action?: string;
  readonly Actor?: { readonly ID?: string };
}

const KINDS = ['die', 'oom'] as const;

/** `onEnd` is called when no more events come, for whatever reason. */
export function openEvents(
  connection: Connection,
  onEvent: (event: ContainerEvent) => void,
  onEnd: () => void,
): EventStream {
  const controller = new AbortController();
  const query = { filters: JSON.stringify({ type: ['container'], event: KINDS }) };
  const call = { what: 'report events', method: 'GET', path: '/events', query } as const;
  const stream = connection.open(call, { signal: controller.signal });
  stream.then((source) => readEvents(source, onEvent)).then(onEnd, onEnd);
  const begun = stream.then(
    () => true,
    () => false,
  );
  return { begun, close: () => controller.abort() };
}

async function readEvents(source: Readable, onEvent: (event: ContainerEvent) => void): Promise<void> {
  for await (const { Action, Actor } of jsonLines<EventMessage>(source)) {
    const kind = KINDS.find((known) => known === Action);
    if (kind !== undefined && Actor?.ID !== undefined) onEvent({ kind, id: Actor.ID });
  }
}
