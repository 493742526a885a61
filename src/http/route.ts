import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';

/** One endpoint, from which the server and its description are made. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `:name` for parameters. */
  readonly path: string;
  readonly summary: string;
  readonly body?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** The body of a success. */
  readonly answer: z.ZodType;
  readonly status?: 101 | 200 | 201;
  /** The longest body. */
  readonly bodyBytes?: number;
  /** Those who watch the server are not counted. */
  readonly isUnlimited?: boolean;
  /** What an answer has in addition when the server or the engine is at fault. */
  readonly onFault?: Readonly<Record<string, unknown>>;
  /** Also a body that does not say that it is JSON. Pages of other origins are refused in any case. */
  readonly takesText?: boolean;
  /** A refusal says what is wrong as `message`, too. */
  readonly hasMessage?: boolean;
  /** Of a success, when it is not JSON. */
  readonly media?: string;
  /** Other ways to answer, by media type. */
  readonly streams?: readonly string[];
  /** The code names of the errors that it may answer with, beside those of every endpoint, by status. */
  readonly refusals?: Readonly<Record<number, string>>;
  handle(call: Call): Promise<unknown>;
}

export interface Call {
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly query: unknown;
  readonly user: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Counts bytes that are held for the answer. Throws ANSWERS_FULL; an AbortError when no one waits for it. */
  readonly take: (bytes: number) => void;
}

/** A route whose handler knows the types of its body and query. */
export function route<Body extends z.ZodObject, Query extends z.ZodObject, Answer extends z.ZodType>(
  wish: Omit<Route, 'body' | 'query' | 'answer' | 'handle'> & {
    readonly body?: Body;
    readonly query?: Query;
    readonly answer: Answer;
    handle(
      call: Omit<Call, 'body' | 'query'> & { readonly body: z.infer<Body>; readonly query: z.infer<Query> },
    ): Promise<z.infer<Answer> | typeof STREAMED>;
  },
): Route {
  return wish;
}

/** The handler has written the answer itself. */
export const STREAMED = Symbol('streamed');
