type EndSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

const EXIT: Record<EndSignal, number> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 };

interface Shutdown {
  /** Fires at the first signal; its reason is the exit status. */
  readonly signal: AbortSignal;
  dispose(): void;
}

/** One listener per signal. The first asks for an orderly end; the second calls `force`, which must not return late. */
export function listenForShutdown(onFirst: (signal: EndSignal) => void, force: (exit: number) => void): Shutdown {
  const controller = new AbortController();
  const listeners = (Object.keys(EXIT) as EndSignal[]).map((name) => {
    const listener = (): void => {
      if (controller.signal.aborted) return force(EXIT[name]);
      controller.abort(EXIT[name]);
      onFirst(name);
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  return { signal: controller.signal, dispose: () => listeners.forEach((off) => off()) };
}
