import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { sleep } from '../../lib/index.ts';
import type { ContainerExit } from '../engine.ts';
import { whole } from './connection.ts';
import type { Call, Connection } from './connection.ts';
import { inspectContainer } from './inspect-container.ts';
import { readText } from './json-lines.ts';
import { createObituaries } from './obituaries.ts';
import type { News } from './obituaries.ts';
import { containerPath } from './paths.ts';

/** More than ever live at once; how older ones ended nobody asks. */
const REMEMBERED = 1000;
/** How much later than the end itself its news may come. */
const NEWS_MS = 500;

export interface Exits {
  /** Begins to wait, before the start: a container may be gone before anyone could ask how it ended. */
  expect(id: string): Promise<void>;
  forget(id: string): void;
  exitOf(id: string, signal: AbortSignal | undefined): Promise<ContainerExit>;
}

interface Vigil {
  /** The engine knows that we wait. */
  readonly begun: Promise<unknown>;
  readonly exit: Promise<ContainerExit>;
}

export function createExits(connection: Connection): Exits {
  const vigils = new Map<string, Vigil>();
  const obituaries = createObituaries(connection);

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
      obituaries.release(id, news);
    }
  };

  const keepVigil = (id: string, alreadyShort: boolean): Vigil => {
    const holding = obituaries.hold(id);
    const begun = holding.then(() => connection.open(waitCall(id)));
    const exit = follow(id, begun, holding, alreadyShort);
    const vigil = { begun, exit };
    vigils.set(id, vigil);
    exit.catch(() => vigils.get(id) === vigil && vigils.delete(id));
    const [oldest] = vigils.keys();
    if (vigils.size > REMEMBERED && oldest !== undefined) vigils.delete(oldest);
    return vigil;
  };

  /** One that somebody else has started may have run out of memory before we listen. */
  const wasShort = async (id: string): Promise<boolean> =>
    (await inspectContainer(connection, id))?.State.OOMKilled ?? false;

  return {
    expect: async (id) => void (await (vigils.get(id) ?? keepVigil(id, false)).begun),
    forget: (id) => void vigils.delete(id),
    exitOf: async (id, signal) => {
      const vigil = vigils.get(id) ?? keepVigil(id, await wasShort(id));
      return signal === undefined ? vigil.exit : orAborted(vigil.exit, signal);
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
