import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { sleep } from '../../lib/index.ts';
import type { ContainerExit } from '../engine.ts';
import { whole } from './connection.ts';
import type { Call, Connection } from './connection.ts';
import { inspectContainer } from './inspect-container.ts';
import { readText } from './json-lines.ts';
import { createContainerNews } from './container-news.ts';
import type { News } from './container-news.ts';
import { containerPath } from './paths.ts';

/** More than ever live at once; how older ones ended is not asked any more. */
const REMEMBERED = 1000;
/** How much later than the end itself its news may come. */
const NEWS_MS = 500;

export interface Exits {
  /** Begins to wait, before the start: a container may be gone before anyone could ask how it ended. */
  expect(id: string): Promise<void>;
  forget(id: string): void;
  exitOf(id: string, signal: AbortSignal | undefined): Promise<ContainerExit>;
}

interface Wait {
  /** The engine knows that we wait. */
  readonly begun: Promise<unknown>;
  readonly exit: Promise<ContainerExit>;
}

export function createExits(connection: Connection): Exits {
  const waits = new Map<string, Wait>();
  const containerNews = createContainerNews(connection);

  const follow = async (
    id: string,
    begun: Promise<IncomingMessage>,
    holding: Promise<News>,
    alreadyShort: boolean,
  ): Promise<ContainerExit> => {
    const news = await holding;
    try {
      return await judge(await readCode(connection, id, await begun), news, alreadyShort);
    } finally {
      containerNews.release(id, news);
    }
  };

  const beginWait = (id: string, alreadyShort: boolean): Wait => {
    const holding = containerNews.hold(id);
    const begun = holding.then(() => connection.open(waitCall(id)));
    const exit = follow(id, begun, holding, alreadyShort);
    const wait = { begun, exit };
    waits.set(id, wait);
    exit.catch(() => waits.get(id) === wait && waits.delete(id));
    const [oldest] = waits.keys();
    if (waits.size > REMEMBERED && oldest !== undefined) waits.delete(oldest);
    return wait;
  };

  /** One that another process has started may have run out of memory before we listen. */
  const wasShort = async (id: string): Promise<boolean> =>
    (await inspectContainer(connection, id))?.State.OOMKilled ?? false;

  return {
    expect: async (id) => void (await (waits.get(id) ?? beginWait(id, false)).begun),
    forget: (id) => void waits.delete(id),
    exitOf: async (id, signal) => {
      const wait = waits.get(id) ?? beginWait(id, await wasShort(id));
      return signal === undefined ? wait.exit : orAborted(wait.exit, signal);
    },
  };
}

/** "removed": as all ours remove themselves, this is the end and one thing more: the name is free again. */
function waitCall(id: string): Call {
  const path = containerPath(id, '/wait');
  return { what: `wait for container ${id}`, method: 'POST', path, query: { condition: 'removed' }, fine: [404] };
}

async function readCode(connection: Connection, id: string, answer: IncomingMessage): Promise<number | null> {
  const asked = { what: `wait for container ${id}`, place: connection.place };
  const text = await whole(asked, readText(answer));
  if (answer.statusCode === 404) return null;
  const { StatusCode } = await whole(asked, parse<{ StatusCode: number }>(text));
  return StatusCode;
}

/** Async, so that what is no JSON is a rejection: an answer that was cut off. */
async function parse<Answer>(text: string): Promise<Answer> {
  return JSON.parse(text) as Answer;
}

/** The code alone does not tell: what never ran ends with 0 too, and what ran out of memory with anything. */
async function judge(code: number | null, news: News, alreadyShort: boolean): Promise<ContainerExit> {
  if (code !== null && news.isHeard) await sleep(NEWS_MS, news.death);
  const neverRan = code === 0 && news.isHeard && !news.death.aborted;
  return { code: neverRan ? null : code, oomKilled: alreadyShort || news.ranOutOfMemory };
}

async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const over = new AbortController();
  const aborted = once(signal, 'abort', { signal: over.signal }).then((): never => {
    throw signal.reason as Error;
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}
