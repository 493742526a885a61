const STOP_CAUSES: Readonly<Record<number, string>> = {
  129: 'the terminal is gone (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'asked to stop (SIGTERM)',
};

/** The end that is asked of a run, with its cause in words; the reason of the other signal is the exit status. */
export function stopSignal(interrupted: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => {
    const exit = Number(interrupted.reason);
    controller.abort({
      status: 'stopped',
      exit,
      cause: STOP_CAUSES[exit] ?? 'the orchestrator met an error that it could not answer',
    });
  };
  if (interrupted.aborted) stop();
  interrupted.addEventListener('abort', stop, { once: true });
  return controller.signal;
}
