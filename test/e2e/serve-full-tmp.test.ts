import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PYTHON_AND_RUBY, whyNoLanguages } from '../support/language-images.ts';
import { runProgram, serveForTest } from '../support/served.ts';
import type { Ran, Served } from '../support/served.ts';
import { buildSandboxImage } from '../support/worker-image.ts';

const execFileAsync = promisify(execFile);

/** Fills the folder of all, in the way that is named, and again what gets free, as long as /tmp/full is there. */
const PYTHON = (once: string): string => `import os, time
open("/tmp/begun", "w").close()
f, n = open("/tmp/big", "wb", 0), 0
def fill():
  global n
  try:
    while True:
      ${once}
  except OSError: pass
fill()
os.rename("/tmp/begun", "/tmp/full")
while os.path.exists("/tmp/full"):
  fill()
  time.sleep(0.005)
print("done")`;
const JAVASCRIPT = `const fs = require('fs');
fs.writeFileSync('/tmp/begun', '');
const file = fs.openSync('/tmp/big', 'w');
const bytes = Buffer.alloc(4096);
const fill = () => { try { for (;;) fs.writeSync(file, bytes); } catch {} };
fill();
fs.renameSync('/tmp/begun', '/tmp/full');
setInterval(() => { fill(); if (!fs.existsSync('/tmp/full')) { console.log('done'); process.exit(); } }, 5);`;

const FILLERS: readonly (readonly [string, string, string, string])[] = [
  ['python', 'bytes', PYTHON('f.write(b"x" * 4096)'), 'print(N)'],
  ['python', 'names', PYTHON('n += 1; os.close(os.open(f"/tmp/{n}", os.O_CREAT))'), 'print(N)'],
  ['javascript', 'bytes', JAVASCRIPT, 'console.log(N)'],
];

describe.skipIf(whyNoLanguages !== '')(`a program that fills the folder of all${whyNoLanguages}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest({ config: PYTHON_AND_RUBY });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const run = (language: string, code: string): Promise<Ran> => runProgram(served, language, code);
  const piston = async (language: string, files: object[], more: object): Promise<unknown> => {
    const asked = { language, version: '*', files, ...more };
    return (await served.ask('POST', '/api/v2/execute', asked)).body['run'];
  };
  /** What `work` sees while the folder is full. */
  const whileFull = async <Result>(
    language: string,
    filler: string,
    work: () => Promise<Result>,
  ): Promise<{ result: Result; ended: Ran }> => {
    const container = String((await run(language, ''))['container_id']);
    const inContainer = (command: string): string[] => ['exec', '--user', '0', container, 'sh', '-c', command];
    const filling = run(language, filler);
    // In one look, since a program has ten seconds in all.
    const look = 'for n in $(seq 400); do [ -e /tmp/full ] && break; sleep 0.05; done; ls /tmp/full';
    expect((await execFileAsync('docker', inContainer(look))).stdout).toBe('/tmp/full\n');
    const result = await work();
    await execFileAsync('docker', inContainer('rm -f /tmp/full'));
    return { result, ended: await filling };
  };

  it.each(FILLERS)('keeps no neighbour from its start: %s, with %s', async (language, _, filler, code) => {
    const numbers = [1, 2, 3, 4, 5];
    const { result, ended } = await whileFull(language, filler, () =>
      Promise.all(numbers.map((number) => run(language, code.replace('N', String(number))))),
    );
    expect(ended).toMatchObject({ stdout: 'done\n', exit_code: 0 });
    for (const [at, number] of numbers.entries())
      expect(result[at]).toMatchObject({ stdout: `${number}\n`, stderr: '', exit_code: 0 });
    const container_id = ended['container_id'];
    expect(await run(language, code.replace('N', '6'))).toMatchObject({ stdout: '6\n', exit_code: 0, container_id });
  });

  it('keeps none from its start that has files and input, in an interpreter that is forked and in one that is not', async () => {
    const files = [
      { name: 'main.py', content: 'import data.more; print(data.more.y, open("/dev/stdin").read())' },
      { name: 'data/more.py', content: 'y = 5' },
    ];
    const stdin = 'x'.repeat(50_000);
    const { result } = await whileFull('python', PYTHON('n += 1; os.close(os.open(f"/tmp/{n}", os.O_CREAT))'), () =>
      Promise.all([{}, { run_memory_limit: 100_000_000 }].map((more) => piston('python', files, { stdin, ...more }))),
    );
    for (const each of result) expect(each).toMatchObject({ stdout: `5 ${stdin}\n`.slice(0, 10_240), code: 0 });
  });

  it('gives a neighbour no way to what others have in the room beside it', async () => {
    const look = `import glob, os
def dare(work):
  try: print(work())
  except OSError as e: print(e.strerror)
dare(lambda: os.listdir("/run/programs"))
dare(lambda: open(os.path.realpath(__file__), "a"))
dare(lambda: open(os.environ["HOME"] + "/x", "w"))
dare(lambda: open("/run/programs/x", "w"))
dare(lambda: os.rename(__file__, "/tmp/other"))
dare(lambda: [open(p).read() for n in range(32) for p in glob.glob(f"/run/programs/{n}/*") if p != os.path.realpath(__file__)])
print(open(__file__).read().count("dare"), os.listdir(os.environ["HOME"]))`;
    const { result } = await whileFull('python', PYTHON('f.write(b"x" * 4096)'), () =>
      Promise.all([run('python', look), run('python', 'import time; time.sleep(1); print("secret")')]),
    );
    const denied = 'Permission denied\n';
    expect(result[0]['stdout']).toMatch(new RegExp(`^${denied.repeat(4)}Operation not permitted\\n`));
    expect(result[0]['stdout']).not.toContain('secret');
    expect(result[1]).toMatchObject({ stdout: 'secret\n' });
  });
});
