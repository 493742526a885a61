import { brokenOff } from './errors.ts';
import { whole } from './connection.ts';
import type { Connection } from './connection.ts';
import { jsonLines } from './json-lines.ts';

/** A container has ended, or a process in it was killed because memory was used up. */
export interface ContainerEvent {
  readonly kind: 'die' | 'oom';
  readonly id: string;
}

interface EventMessage {
  readonly Action?: string;
  readonly Actor?: { readonly ID?: string };
}

const KINDS = ['die', 'oom'] as const;
const WHAT = { what: 'report events' };

/**
 * Resolves when the engine is listening; what happens from then on is not missed. `ended` resolves when the signal has
 * fired, and rejects with ENGINE_UNREACHABLE when the engine goes away.
 */
export async function watchEvents(
  connection: Connection,
  onEvent: (event: ContainerEvent) => void,
  signal: AbortSignal,
): Promise<{ readonly ended: Promise<void> }> {
  const filters = JSON.stringify({ type: ['container'], event: KINDS });
  const asked = { ...WHAT, place: connection.place };
  const stream = await connection.open({ ...WHAT, method: 'GET', path: '/events', query: { filters } }, { signal });
  const follow = async (): Promise<void> => {
    for await (const { Action, Actor } of jsonLines<EventMessage>(stream)) {
      const kind = KINDS.find((known) => known === Action);
      if (kind !== undefined && Actor?.ID !== undefined) onEvent({ kind, id: Actor.ID });
    }
    throw brokenOff(asked);
  };
  const ended = whole(asked, follow()).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  ended.catch(() => undefined);
  return { ended };
}
