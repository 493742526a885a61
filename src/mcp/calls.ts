import { z } from 'zod';
import type { CallHooks } from '../code/index.ts';
import { asAppError } from '../lib/index.ts';

export const sessionId = z
  .string()
  .regex(/^[\w.-]{1,64}$/)
  .default('default')
  .describe('Calls with the same name share a container, its files and its packages, and run one after the other.');

/** Progress is told to clients that ask for it. */
export const hooksOf = ({ signal }: { readonly signal: AbortSignal }): CallHooks => ({
  signal,
  onProgress: () => undefined,
});

/** What went wrong and what to do, for the client. */
export function reasonOfError(error: unknown): string {
  const { message, hint } = asAppError(error);
  return `${message} ${hint}`;
}
