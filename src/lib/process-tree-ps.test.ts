import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { asMacOs } from '../../test/support/as-macos.ts';
import { startNode } from '../../test/support/node-process.ts';

/** As a machine does it: the zone is that of the environment, and without one that of the machine, here in a file. */
const PS_OF_A_ZONE = 'exec env TZ="${TZ-$(cat zone)}" ps "$@"';

it('a process stays the same, and its lock held, when the time zone of the machine changes', async () => {
  const { env, folder } = asMacOs(PS_OF_A_ZONE);
  const { end } = startNode(
    `import { writeFileSync } from 'node:fs';
     import { isAlive, lockHolder, processStart, tryLock } from './lib/index.js';
     writeFileSync('${folder}/zone', 'JST-9');
     const { pid } = process;
     const me = { pid, started: await processStart(pid) };
     await tryLock('${folder}/lock');
     writeFileSync('${folder}/zone', 'EST5');
     const held = (await lockHolder('${folder}/lock'))?.pid === pid;
     console.log(JSON.stringify({ known: me.started !== undefined, alive: await isAlive(me), held }));`,
    env,
  );
  expect(await end).toMatchObject({ code: 0, output: `${JSON.stringify({ known: true, alive: true, held: true })}\n` });
});

it('a process lives, although "ps" hangs when it is asked for the first time', async () => {
  const { env, folder } = asMacOs('if rm hangs 2>/dev/null; then exec sleep 1000; fi; exec env ps "$@"');
  const { end } = startNode(
    `import { existsSync, writeFileSync } from 'node:fs';
     import { isAlive, processStart } from './lib/index.js';
     const me = { pid: process.pid, started: await processStart(process.pid) };
     writeFileSync('${folder}/hangs', '');
     console.log('alive:', await isAlive(me), 'has hung:', !existsSync('${folder}/hangs'));`,
    env,
  );
  expect(await end).toMatchObject({ code: 0, output: 'alive: true has hung: true\n' });
});

it('what processes run is not known when "ps" is killed again and again, and a lock stays with its holder', async () => {
  const { env, folder } = asMacOs('if [ -e dies ]; then kill -9 $$; fi; exec env ps "$@"');
  const { end } = startNode(
    `import { copyFileSync, writeFileSync } from 'node:fs';
     import * as lib from './lib/index.js';
     const { pid } = process;
     const me = { pid, started: await lib.processStart(pid) };
     await lib.tryLock('${folder}/lock');
     copyFileSync('${folder}/lock', '${folder}/lock.0123456789abcdef');
     writeFileSync('${folder}/dies', '');
     const asked = [
       lib.isAlive(me),
       lib.lockHolder('${folder}/lock'),
       lib.tryLock('${folder}/lock'),
       lib.findByEnvironment('A', 'b'),
       lib.killByEnvironment('A', 'b'),
       lib.environmentOf(pid),
     ];
     for (const answer of asked) answer.then(
       () => console.log('an answer'),
       ({ code }) => console.log(code),
     );
     await Promise.allSettled(asked);
     await lib.removeLockDrafts('${folder}/lock');`,
    env,
  );
  expect(await end).toMatchObject({ code: 0, output: 'PROCESSES_UNSEEN\n'.repeat(6) });
  for (const file of ['lock', 'lock.0123456789abcdef']) expect(existsSync(path.join(folder, file))).toBe(true);
});
