import type { ContainerEvent, EventWatch, Labels } from '../engine.ts';
import { brokenOff } from './errors.ts';
import { whole } from './connection.ts';
import type { Connection } from './connection.ts';
import { jsonLines } from './json-lines.ts';

interface EventMessage {
  readonly Action?: string;
  readonly Actor?: { readonly ID?: string; readonly Attributes?: Readonly<Record<string, string>> };
}

type EventKind = ContainerEvent['kind'];

const WHAT = { what: 'report events' };

/** Resolves when the engine is listening; what happens from then on is not missed. */
export async function watchEvents(
  connection: Connection,
  wanted: { readonly kinds: readonly EventKind[]; readonly labels: Labels },
  onEvent: (event: ContainerEvent) => void,
  signal: AbortSignal,
): Promise<EventWatch> {
  const filters = JSON.stringify({ type: ['container'], event: wanted.kinds, label: labelFilter(wanted.labels) });
  const asked = { ...WHAT, place: connection.place };
  const stream = await connection.open({ ...WHAT, method: 'GET', path: '/events', query: { filters } }, { signal });
  const follow = async (): Promise<void> => {
    for await (const message of jsonLines<EventMessage>(stream)) {
      const event = toEvent(message, wanted.kinds);
      if (event !== undefined) onEvent(event);
    }
    throw brokenOff(asked);
  };
  const ended = whole(asked, follow()).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  ended.catch(() => undefined);
  return { ended };
}

/** The form that the engine wants for "has all these labels". */
export function labelFilter(labels: Labels): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}=${value}`);
}

function toEvent({ Action, Actor }: EventMessage, kinds: readonly EventKind[]): ContainerEvent | undefined {
  const kind = kinds.find((known) => known === Action);
  if (kind === undefined || Actor?.ID === undefined) return undefined;
  const { exitCode, image: _image, name: _name, ...labels } = Actor.Attributes ?? {};
  return { kind, id: Actor.ID, labels, exitCode: kind === 'die' && exitCode !== undefined ? Number(exitCode) : null };
}
