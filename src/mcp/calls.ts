import type { ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallHooks } from '../code/index.ts';
import { asAppError, clip, inOneLine, withoutControls } from '../lib/index.ts';

type Call = Pick<ServerContext['mcpReq'], 'signal' | 'notify' | '_meta'>;

const LONGEST_MESSAGE = 300;

export const sessionId = z
  .string()
  .regex(/^[\w.-]{1,64}$/)
  .default('default')
  .describe(
    'Calls with the same name share a container, its files and its packages, and run one after the other. Without containers it has no effect.',
  );

/** Progress is told to clients that ask for it. */
export function hooksOf({ signal, notify, _meta: meta }: Call): CallHooks {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return { signal, onProgress: () => undefined };
  let progress = 0;
  return {
    signal,
    onProgress: (text) => {
      progress += 1;
      const params = { progressToken, progress, message: clip(inOneLine(withoutControls(text)), LONGEST_MESSAGE) };
      notify({ method: 'notifications/progress', params }).catch(() => undefined);
    },
  };
}

/** What went wrong and what to do, for the client. */
export function reasonOfError(error: unknown): string {
  const { message, hint } = asAppError(error);
  return `${message} ${hint}`;
}
