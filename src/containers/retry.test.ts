import { describe, expect, it, vi } from 'vitest';
import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { createRetry } from './retry.ts';

const gone = engineErrors.ENGINE_UNREACHABLE({ tried: ['it closed the connection'] });
const slow = engineErrors.ENGINE_TIMEOUT({ call: 'start container x', place: 'there', waitedMs: 20_000 });

function engine(isThere: () => boolean): Engine {
  return { info: async () => (isThere() ? {} : Promise.reject(gone)) } as unknown as Engine;
}

describe('retry with an engine', () => {
  it('ends when the engine is there, but not for this one call', async () => {
    vi.useFakeTimers();
    try {
      let calls = 0;
      const work = createRetry(engine(() => true))(async () => {
        calls += 1;
        throw gone;
      });
      const told = expect(work).rejects.toBe(gone);
      await vi.advanceTimersByTimeAsync(60_000);
      await told;
      expect(calls).toBe(5);
    } finally {
      vi.useRealTimers();
    }
  });

  it('does not count a slow call as an outage while the engine answers others', async () => {
    let calls = 0;
    const work = createRetry(engine(() => true))(async () => {
      calls += 1;
      throw slow;
    });
    await expect(work).rejects.toBe(slow);
    expect(calls).toBe(1);
  });

  it('counts an engine that answers nothing at all as gone', async () => {
    const work = createRetry(
      engine(() => false),
      0,
    )(async () => Promise.reject(slow));
    await expect(work).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE', cause: slow });
  });

  it('goes on when an engine that did not answer answers again', async () => {
    let looks = 0;
    const results = [async () => Promise.reject(slow), async () => 'done'];
    const work = createRetry(engine(() => looks++ > 0))(() => results.shift()?.() ?? fail());
    expect(await work).toBe('done');
  });
});

async function fail(): Promise<never> {
  throw new Error('asked too often');
}
