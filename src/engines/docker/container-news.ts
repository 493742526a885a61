import type { Connection } from './connection.ts';
import { watchEvents } from './events.ts';
import type { ContainerEvent } from './events.ts';

/** What the engine's events have told of one container. */
export interface News {
  readonly ranOutOfMemory: boolean;
  /** False when the engine tells no events: then silence means nothing. */
  readonly isHeard: boolean;
  /** Fires with the news of its death. */
  readonly death: AbortSignal;
}

interface Entry {
  readonly news: { ranOutOfMemory: boolean; isHeard: boolean; death: AbortSignal };
  readonly dies: () => void;
}

export interface ContainerNews {
  /** Listens from now on; one stream of events serves all containers that are held. */
  hold(id: string): Promise<News>;
  release(id: string, news: News): void;
}

/** An engine forgets a container that removes itself, and with it that it ran out of memory: so we listen. */
export function createContainerNews(connection: Connection): ContainerNews {
  const entries = new Map<string, Entry>();
  let listening: { readonly controller: AbortController; readonly begun: Promise<boolean> } | undefined;

  const startListening = (): NonNullable<typeof listening> => {
    const controller = new AbortController();
    const over = (): void => {
      if (listening !== own) return;
      listening = undefined;
      // The end of a container makes no event from now on: silence has no meaning any more.
      for (const { news } of entries.values()) news.isHeard = false;
    };
    const own = { controller, begun: begin(controller.signal, over) };
    return own;
  };

  /** The news is an extra: an engine that tells none is waited for all the same. */
  const begin = async (signal: AbortSignal, over: () => void): Promise<boolean> => {
    try {
      const { ended } = await watchEvents(connection, hear, signal);
      ended.then(over, over);
      return true;
    } catch {
      over();
      return false;
    }
  };

  const hear = ({ kind, id }: ContainerEvent): void => {
    const entry = entries.get(id);
    if (kind === 'oom' && entry !== undefined) entry.news.ranOutOfMemory = true;
    if (kind === 'die') entry?.dies();
  };

  return {
    hold: async (id) => {
      const entry = createEntry();
      entries.set(id, entry);
      const own = (listening ??= startListening());
      // It may have ended again by the time that we hear of its beginning.
      entry.news.isHeard = (await own.begun) && listening === own;
      return entry.news;
    },
    release: (id, news) => {
      if (entries.get(id)?.news === news) entries.delete(id);
      if (entries.size > 0) return;
      listening?.controller.abort();
      listening = undefined;
    },
  };
}

function createEntry(): Entry {
  const death = new AbortController();
  return {
    news: { ranOutOfMemory: false, isHeard: false, death: death.signal },
    dies: () => death.abort(),
  };
}
