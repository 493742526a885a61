import type { Connection } from './connection.ts';
import { openEvents } from './events.ts';
import type { ContainerEvent, EventStream } from './events.ts';

/** What is known of one container from the engine's events. */
export interface News {
  readonly ranOutOfMemory: boolean;
  /** False while the engine reports no events: then silence means nothing. */
  readonly isHeard: boolean;
  /** Fires when the container has died. */
  readonly death: AbortSignal;
}

export interface ContainerNews {
  /** Resolves when events of the container are heard, or cannot be; one stream of events serves all held containers. */
  hold(id: string): Promise<News>;
  release(id: string, news: News): void;
}

interface Entry {
  readonly news: { ranOutOfMemory: boolean; isHeard: boolean; readonly death: AbortSignal };
  readonly death: AbortController;
}

/** An engine forgets a container that removes itself, and whether it ran out of memory: only its events tell. */
export function createContainerNews(connection: Connection): ContainerNews {
  const entries = new Map<string, Entry>();
  let events: EventStream | undefined;

  const hear = ({ kind, id }: ContainerEvent): void => {
    const entry = entries.get(id);
    if (kind === 'die') entry?.death.abort();
    else if (entry !== undefined) entry.news.ranOutOfMemory = true;
  };
  const open = (): EventStream => {
    const own = openEvents(connection, hear, () => {
      if (events !== own) return;
      events = undefined;
      for (const { news } of entries.values()) news.isHeard = false;
    });
    return own;
  };

  return {
    hold: async (id) => {
      const entry = createEntry();
      entries.set(id, entry);
      const own = (events ??= open());
      // The stream may have ended by the time that its beginning is known here.
      entry.news.isHeard = (await own.begun) && events === own;
      return entry.news;
    },
    release: (id, news) => {
      if (entries.get(id)?.news === news) entries.delete(id);
      if (entries.size > 0) return;
      events?.close();
      events = undefined;
    },
  };
}

function createEntry(): Entry {
  const death = new AbortController();
  return { news: { ranOutOfMemory: false, isHeard: false, death: death.signal }, death };
}
