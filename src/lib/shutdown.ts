type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const EXIT: Record<EndSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** `timeout` signals a process and then its group, and npm passes on what we have had: both mean it once. */
export const SAME_MOMENT_MS = 500;

interface Shutdown {
  /** Asks for an orderly end as a signal would. */
  stop(exit: number): void;
  /** Fires at the first signal; its reason is the exit status. */
  readonly signal: AbortSignal;
  dispose(): void;
}

/**
 * One listener per signal. The first asks for an orderly end; the second calls `force`, which must not return late. What
 * comes in the same moment as the first is no second one.
 */
export function listenForShutdown(onFirst: (signal: EndSignal) => void, force: (exit: number) => void): Shutdown {
  const controller = new AbortController();
  let first = 0;
  const listeners = (Object.keys(EXIT) as EndSignal[]).map((name) => {
    const listener = (): void => {
      if (controller.signal.aborted) {
        if (performance.now() - first > SAME_MOMENT_MS) force(EXIT[name]);
        return;
      }
      first = performance.now();
      controller.abort(EXIT[name]);
      onFirst(name);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return {
    signal: controller.signal,
    stop: (exit) => controller.abort(exit),
    dispose: () => listeners.forEach((off) => off()),
  };
}
