import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { sleep, within } from '../../lib/index.ts';
import type { ContainerExit } from '../engine.ts';
import type { Call, Connection } from './connection.ts';
import { createContainerNews } from './container-news.ts';
import type { ContainerNews, News } from './container-news.ts';
import { whole } from './errors.ts';
import { containerPath, inspectContainer } from './requests.ts';

/** More than ever live at once; the exits of older ones are not asked for any more. */
const REMEMBERED = 1000;
/** How much later than the end itself its event may come. */
const NEWS_MS = 500;

export interface Exits {
  /** Begins to wait, before the start: afterwards the container may be gone at once, and its exit with it. */
  expect(id: string): Promise<void>;
  forget(id: string): void;
  exitOf(id: string, signal: AbortSignal | undefined): Promise<ContainerExit>;
}

interface Wait {
  /** Resolves when the engine has taken the request to wait. */
  readonly begun: Promise<unknown>;
  readonly exit: Promise<ContainerExit>;
}

export function createExits(connection: Connection): Exits {
  const waits = new Map<string, Wait>();
  const containerNews = createContainerNews(connection);

  const wait = (id: string, alreadyShort: boolean): Wait => {
    const begun = beginWait(connection, containerNews, id, alreadyShort);
    waits.set(id, begun);
    begun.exit.catch(() => waits.get(id) === begun && waits.delete(id));
    const [oldest] = waits.keys();
    if (waits.size > REMEMBERED && oldest !== undefined) waits.delete(oldest);
    return begun;
  };

  return {
    expect: async (id) => void (await (waits.get(id) ?? wait(id, false)).begun),
    forget: (id) => void waits.delete(id),
    exitOf: async (id, signal) => {
      const { exit } = waits.get(id) ?? wait(id, await wasShort(connection, id));
      const ended = await within(Infinity, exit, signal);
      if (ended === undefined) throw signal?.reason as Error;
      return ended;
    },
  };
}

/** A container that another process has started may have run out of memory before we listen. */
async function wasShort(connection: Connection, id: string): Promise<boolean> {
  return (await inspectContainer(connection, id))?.State.OOMKilled ?? false;
}

function beginWait(connection: Connection, containerNews: ContainerNews, id: string, alreadyShort: boolean): Wait {
  const holding = containerNews.hold(id);
  const begun = holding.then(() => connection.open(waitCall(id)));
  const follow = async (): Promise<ContainerExit> => {
    const news = await holding;
    try {
      return await judge(await readCode(connection, id, await begun), news, alreadyShort);
    } finally {
      containerNews.release(id, news);
    }
  };
  return { begun, exit: follow() };
}

/** "removed", and not "not-running": all our containers remove themselves, and then their names are free again. */
function waitCall(id: string): Call {
  const path = containerPath(id, '/wait');
  return { what: `wait for container ${id}`, method: 'POST', path, query: { condition: 'removed' }, fine: [404] };
}

async function readCode(connection: Connection, id: string, answer: IncomingMessage): Promise<number | null> {
  const read = async (): Promise<number | null> => {
    const body = await text(answer);
    return answer.statusCode === 404 ? null : (JSON.parse(body) as { StatusCode: number }).StatusCode;
  };
  return whole({ what: `wait for container ${id}`, place: connection.place }, read());
}

/** The code alone is not enough: what never ran ends with 0, too, and what ran out of memory with any code. */
async function judge(code: number | null, news: News, alreadyShort: boolean): Promise<ContainerExit> {
  if (code !== null && news.isHeard) await sleep(NEWS_MS, news.death);
  const neverRan = code === 0 && news.isHeard && !news.death.aborted;
  return { code: neverRan ? null : code, oomKilled: alreadyShort || news.ranOutOfMemory };
}
