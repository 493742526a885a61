import { hasCode } from '../lib/index.ts';
import type { Running } from './connection.ts';
import { sandboxErrors } from './errors.ts';
import type { Sandbox } from './sandbox.ts';

/** A sandbox that is replaced by a new one when it has ended. */
export interface KeptSandbox {
  /** Rejects with SANDBOX_GONE after `close`. */
  get(): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }>;
  isRunning(): Promise<boolean>;
  /** The next one that asks gets a new one. */
  end(): Promise<void>;
  /** No one gets a new one. */
  close(): Promise<void>;
}

/** The sandbox was gone before the work began, and that was not noticed: a new one can do it. */
export function wasGoneBefore(error: unknown, isNew: boolean, running?: Pick<Running, 'hasBegun'>): boolean {
  return hasCode(error, sandboxErrors.SANDBOX_GONE) && !isNew && running?.hasBegun() !== true;
}

export function keepSandbox(start: () => Promise<Sandbox>): KeptSandbox {
  let current: Promise<Sandbox> | undefined;
  const started = async (): Promise<Sandbox | undefined> => current?.catch(() => undefined);
  let isClosed = false;
  const end = async (): Promise<void> => {
    const ending = current;
    const sandbox = await started();
    if (current === ending) current = undefined;
    await sandbox?.close();
  };
  return {
    get: async () => {
      const before = current;
      const sandbox = await started();
      if (isClosed) throw sandboxErrors.SANDBOX_GONE({ reason: 'it was closed' });
      if (sandbox !== undefined && !sandbox.isOver()) return { sandbox, isNew: false };
      // Another request may have begun a new one meanwhile.
      const next = (current === before ? undefined : current) ?? start();
      current = next;
      return { sandbox: await next, isNew: true };
    },
    isRunning: async () => (await started())?.isOver() === false,
    end,
    close: async () => {
      isClosed = true;
      await end();
    },
  };
}
