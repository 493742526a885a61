import { describe, expect, it } from 'vitest';
import { engineErrors } from '../engines/errors.ts';
import type { CallHooks, CodeRan, CodeWish } from '../code/index.ts';
import type { CodeRunner } from './code-runner.ts';
import { openLate } from './late-runner.ts';
import type { Place } from './late-runner.ts';

const WISH: CodeWish = { code: '', language: 'typescript', timeoutMs: 1000, env: {} };

function call(): CallHooks & { readonly told: string[]; readonly off: AbortController } {
  const [told, off] = [[] as string[], new AbortController()];
  return { told, off, signal: off.signal, onProgress: (text) => told.push(text) };
}

const RUNNER: CodeRunner = {
  mode: 'preload',
  run: async () => ({}) as CodeRan,
  reset: async () => true,
  packages: null,
};

/** A place whose preparation goes on when the test says so. */
function slowPlace(runner: CodeRunner = RUNNER) {
  const steps: string[] = [];
  const begun: { tell: (text: string) => void; done: (from?: string) => void; fail: (error: Error) => void }[] = [];
  const open = async (closing: (() => Promise<unknown>)[]): Promise<CodeRunner> => {
    closing.push(async () => steps.push('closed'));
    return runner;
  };
  const place: Place = {
    mode: 'preload',
    prepare: (tell, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
        begun.push({ tell, done: (from = '') => resolve({ from, open }), fail: reject });
      }),
  };
  return { place, begun, steps };
}

describe('a runner that is opened later', () => {
  it('is opened once for all calls, and tells each that waits what is done', async () => {
    const { place, begun, steps } = slowPlace();
    const runner = openLate(place);
    void runner.ready();
    begun[0]?.tell('step 1');
    const [first, second] = [call(), call()];
    const calls = [first, second].map((hooks) => runner.run('a', WISH, hooks));
    begun[0]?.tell('step 2');
    begun[0]?.done();
    await Promise.all(calls);
    begun[0]?.tell('step 3');
    expect([first.told, second.told]).toEqual([
      ['step 1', 'step 2'],
      ['step 1', 'step 2'],
    ]);
    expect(begun).toHaveLength(1);
    await runner.close();
    expect(steps).toEqual(['closed']);
  });

  it('that opens more while it is there closes that as well', async () => {
    const steps: string[] = [];
    const open = async (closing: (() => Promise<unknown>)[]): Promise<CodeRunner> => {
      closing.push(async () => steps.push('first'));
      const run = async (): Promise<CodeRan> => {
        closing.push(async () => steps.push('later'));
        return {} as CodeRan;
      };
      return { ...RUNNER, run };
    };
    const runner = openLate({ mode: 'preload', prepare: async () => ({ from: '', open }) });
    await runner.run('a', WISH, call());
    await runner.close();
    expect(steps).toEqual(['later', 'first']);
  });

  it('that could not be opened is opened by the next call', async () => {
    const { place, begun } = slowPlace();
    const runner = openLate(place);
    const failed = runner.run('a', WISH, call());
    begun[0]?.fail(new Error('no engine'));
    await expect(failed).rejects.toThrow('no engine');
    const next = runner.run('a', WISH, call());
    begun[1]?.done();
    await next;
  });

  it('does not keep a call that is called off', async () => {
    const { place, begun } = slowPlace();
    const runner = openLate(place);
    const hooks = call();
    const waiting = runner.run('a', WISH, hooks);
    hooks.off.abort(new Error('called off'));
    await expect(waiting).rejects.toThrow('called off');
    begun[0]?.done();
    await runner.close();
  });

  it('that is closed meanwhile is called off, and closed', async () => {
    const { place, steps } = slowPlace();
    const runner = openLate(place);
    const waiting = runner.run('a', WISH, call());
    await Promise.all([expect(waiting).rejects.toThrow(), runner.close()]);
    expect(steps).toEqual([]);
    expect(await runner.reset('a')).toBe(false);
  });

  it('makes an image again that was removed, and then runs the code', async () => {
    let isThere = false;
    const run = async (): Promise<CodeRan> => {
      if (!isThere) throw engineErrors.IMAGE_MISSING({ image: 'x' });
      return {} as CodeRan;
    };
    const { place, begun } = slowPlace({ ...RUNNER, run });
    const runner = openLate(place);
    const hooks = call();
    const running = runner.run('a', WISH, hooks);
    begun[0]?.done();
    await expect.poll(() => begun.length).toBe(2);
    begun[1]?.tell('building');
    isThere = true;
    begun[1]?.done();
    await running;
    expect(hooks.told).toEqual(['building']);
  });

  it('is opened again, once, when what it was opened from was removed and is another one now', async () => {
    const steps: string[] = [];
    const made = ['old', 'new', 'new', 'new'];
    const openFrom =
      (from: string) =>
      async (closing: (() => Promise<unknown>)[]): Promise<CodeRunner> => {
        steps.push(`open ${from}`);
        closing.push(async () => steps.push(`close ${from}`));
        const run = async (): Promise<CodeRan> => {
          if (from === 'old') throw engineErrors.IMAGE_MISSING({ image: from });
          return {} as CodeRan;
        };
        return { ...RUNNER, run };
      };
    const prepare: Place['prepare'] = async () => {
      const from = made.shift() ?? '';
      return { from, open: openFrom(from) };
    };
    const runner = openLate({ mode: 'preload', prepare });
    await runner.ready();
    await Promise.all([runner.run('a', WISH, call()), runner.run('b', WISH, call())]);
    await runner.run('c', WISH, call());
    expect(steps).toEqual(['open old', 'close old', 'open new']);
    await runner.close();
    expect(steps.at(-1)).toBe('close new');
  });
});
