import { describe, expect, it } from 'vitest';
import type { CallHooks, CodeRan, CodeWish } from '../code/index.ts';
import { createClients } from './clients.ts';
import type { CodeRunner } from './code-runner.ts';

const WISH: CodeWish = { code: '', language: 'typescript', timeoutMs: 1000, env: {} };
const hooks = (signal = new AbortController().signal): CallHooks => ({ signal, onProgress: () => undefined });

/** Calls wait until they are let go or called off. */
function waitingRunner(): CodeRunner & { readonly open: Set<string>; letGo(): void } {
  const open = new Set<string>();
  const waiting = new Set<() => void>();
  return {
    open,
    letGo: () => waiting.forEach((go) => go()),
    run: (session, _, { signal }) => {
      open.add(session);
      return new Promise((resolve, reject) => {
        waiting.add(() => resolve({} as CodeRan));
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    },
    reset: async (session) => open.delete(session),
    mode: 'container',
    packages: null,
  };
}

describe('sessions of clients', () => {
  it('never meet, whatever names the clients give them', async () => {
    const runner = waitingRunner();
    const clients = createClients(runner, { sessions: 8, idle: 1000 });
    const [one, other] = [clients.open('anna'), clients.open('anna')];
    const calls = [one, one, other].map((client) => client.run('default', WISH, hooks()));
    expect(runner.open.size).toBe(2);
    runner.letGo();
    await Promise.all(calls);
    expect(await one.reset('default')).toBe(true);
    expect(await one.reset('default')).toBe(false);
    expect(await other.reset('default')).toBe(true);
  });

  it('end with their client, and so do its calls', async () => {
    const runner = waitingRunner();
    const clients = createClients(runner, { sessions: 8, idle: 1000 });
    const [one, other] = [clients.open('anna'), clients.open('anna')];
    const call = one.run('a', WISH, hooks());
    void other.run('a', WISH, hooks());
    await Promise.all([expect(call).rejects.toMatchObject({ code: 'CLIENT_GONE' }), one.end()]);
    expect(runner.open.size).toBe(1);
  });

  it('are so many for each user, and the refusal names those of the client', async () => {
    const runner = waitingRunner();
    const clients = createClients(runner, { sessions: 3, idle: 1000 });
    const [one, other, ben] = [clients.open('anna'), clients.open('anna'), clients.open('ben')];
    for (const name of ['a', 'b']) void one.run(name, WISH, hooks());
    void other.run('a', WISH, hooks());
    const facts = { limit: 3, open: ['a', 'b'] };
    await expect(one.run('c', WISH, hooks())).rejects.toMatchObject({ code: 'CODE_SESSIONS_FULL', facts });
    void one.run('a', WISH, hooks());
    void ben.run('a', WISH, hooks());
    await other.reset('a');
    void one.run('c', WISH, hooks());
    expect(runner.open.size).toBe(4);
  });

  it('end when they are idle for too long, and not while code runs', async () => {
    const runner = waitingRunner();
    let time = 0;
    const clients = createClients(runner, { sessions: 8, idle: 1000 }, () => time);
    const client = clients.open('anna');
    const call = client.run('a', WISH, hooks());
    time = 5000;
    await clients.expire();
    expect(runner.open.size).toBe(1);
    runner.letGo();
    await call;
    time = 6000;
    await clients.expire();
    expect(runner.open.size).toBe(1);
    time = 6001;
    await clients.expire();
    expect(runner.open.size).toBe(0);
  });
});
