type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const EXIT: Record<EndSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

/** `timeout` signals a process and then its group, and npm passes a signal on a second time: that is one request. */
export const SAME_MOMENT_MS = 500;

interface Shutdown {
  /** Requests an orderly end, as a signal does. */
  stop(exit: number): void;
  /** Fires at the first signal; its reason is the exit status. */
  readonly signal: AbortSignal;
  dispose(): void;
}

/**
 * The first signal requests an orderly end; the second one calls `force`, which must return soon. A signal in the same
 * moment as the first does not count as the second.
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
