import type { RunState, StateStore } from '../state/index.ts';
import { createWaits } from './backoff.ts';
import { whyStop } from './decide-stop.ts';
import type { Snapshot } from './plan.ts';
import { stopRequestOf } from './ports.ts';
import type { SpareKeeper } from './spares.ts';
import { createWorkerViews } from './worker-views.ts';
import type { ViewSources } from './worker-views.ts';

export type Observer = ReturnType<typeof createObserver>;

/** Reads workers, requests and the clock into a snapshot. */
export function createObserver(sources: ViewSources & { readonly spares: Pick<SpareKeeper, 'view'> }) {
  const { context, register, spares } = sources;
  const { ports, options, graph } = context;
  const begun = ports.clock.monotonic();
  const waitsOf = createWaits(ports.clock, options.policy, graph);
  const lookAtWorkers = createWorkerViews(sources);
  const requests = createRequests(ports.store);
  return {
    /** Drops the requests that had their effect; to be called when the state with that effect is saved. */
    forgetAnswered: requests.forgetAnswered,
    look: async (state: RunState): Promise<Omit<Snapshot, 'merging'>> => {
      const workers = await lookAtWorkers(state);
      return {
        now: ports.clock.now(),
        state,
        graph,
        policy: options.policy,
        workers,
        spares: spares.view(),
        waits: waitsOf(state.tasks),
        retries: await requests.retries(state),
        stop: whyStop({
          asked: stopRequestOf(options.stop),
          outage: register.outage,
          spentMs: options.spentMs + ports.clock.monotonic() - begun,
          limitMs: options.deadlineMs,
        }),
      };
    },
  };
}

/** A request stays open while its task is failed: the first turn with it may decide something else. One without a task is answered. */
function createRequests(store: Pick<StateStore, 'requests' | 'dropRequests'>) {
  const answered = new Set<string>();
  return {
    retries: async (state: RunState): Promise<readonly string[]> => {
      const files = await store.requests();
      return files.flatMap(({ id, task = '' }) => {
        if (state.tasks[task]?.status !== 'failed') answered.add(id);
        return answered.has(id) ? [] : [task];
      });
    },
    forgetAnswered: async (): Promise<void> => {
      await store.dropRequests(answered);
      answered.clear();
    },
  };
}
