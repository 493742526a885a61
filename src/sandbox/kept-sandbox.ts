import type { Sandbox } from './sandbox.ts';

/** A sandbox that is replaced by a new one when it has ended. */
export interface KeptSandbox {
  get(): Promise<{ readonly sandbox: Sandbox; readonly isNew: boolean }>;
  isRunning(): Promise<boolean>;
  close(): Promise<void>;
}

export function keepSandbox(start: () => Promise<Sandbox>): KeptSandbox {
  let current: Promise<Sandbox> | undefined;
  const started = async (): Promise<Sandbox | undefined> => current?.catch(() => undefined);
  return {
    get: async () => {
      const before = current;
      const sandbox = await started();
      if (sandbox !== undefined && !sandbox.isOver()) return { sandbox, isNew: false };
      // Another request may have begun a new one meanwhile.
      const next = (current === before ? undefined : current) ?? start();
      current = next;
      return { sandbox: await next, isNew: true };
    },
    isRunning: async () => (await started())?.isOver() === false,
    close: async () => {
      const sandbox = await started();
      current = undefined;
      await sandbox?.close();
    },
  };
}
