import { mkdtemp, readdir, realpath, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { newRepository } from '../../git/index.ts';
import { findProgram, libErrors, line, makeFolder } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { approveOwn, openProject } from '../../project/index.ts';
import { build } from '../run/build-feature.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { demo } from '../commands/demo.ts';
import { cliErrors } from '../errors.ts';

/** What each task writes, and how that is checked. */
const TASKS = [
  ['L1-001', 'Say hello', 'hello.sh', 'hello() { echo "Hello, $1!"; }', 'bash -n hello.sh'],
  ['L1-002', 'Say goodbye', 'goodbye.sh', 'goodbye() { echo "Goodbye, $1!"; }', 'bash -n goodbye.sh'],
  ['L1-003', 'Know a name', 'name.txt', 'Arjuna', 'test -s name.txt'],
  [
    'L2-001',
    'Greet: needs all three',
    'greet.sh',
    '. ./hello.sh; . ./goodbye.sh; hello "$(cat name.txt)"; goodbye "$(cat name.txt)"',
    'bash greet.sh | grep -q "Goodbye, Arjuna!"',
  ],
] as const;

const GRAPH = {
  feature: 'greeting',
  version: '2.0',
  tasks: TASKS.map(([id, title, file, text, command]) => ({
    id: `GREETING-${id}`,
    title,
    ...(id === 'L2-001'
      ? { level: 2, dependencies: ['GREETING-L1-001', 'GREETING-L1-002', 'GREETING-L1-003'] }
      : { level: 1 }),
    files: { create: [file] },
    run: `sleep 1 && echo '${text}' > ${file}`,
    verification: { command },
  })),
};

const CONFIG = `workers:
  count: 2
  mode: subprocess
gates:
  - name: all scripts parse
    command: for file in *.sh; do bash -n "$file" || exit 1; done
`;

/** `demo`: a small run in a new folder that can be removed afterwards. */
export async function runDemo(input: InputOf<typeof demo>, context: CliContext): Promise<number> {
  const folder = await demoFolder(input.dir, context.cwd);
  const specs = path.join(folder, '.mahabharatha', 'specs', GRAPH.feature);
  await makeFolder(specs);
  await writeFile(path.join(folder, 'README.md'), '# A throw-away repository\n');
  await writeFile(path.join(folder, '.mahabharatha', 'config.yaml'), CONFIG);
  await writeFile(path.join(specs, 'task-graph.json'), `${JSON.stringify(GRAPH, undefined, 2)}\n`);
  await newRepository(folder, context.env);
  context.out(line`A feature of 4 tasks in 2 levels, 2 workers, in ${folder}\n\n`);
  const inside = { ...context, cwd: folder };
  await approveOwn(await openProject(inside), 'config.yaml', inside);
  const exit = await build({ feature: GRAPH.feature }, { json: false, trustConfig: false }, inside);
  if (exit === 0) context.out(whatToLookAt(folder, await howToCall(context)));
  return exit;
}

async function demoFolder(named: string | undefined, cwd: string): Promise<string> {
  if (named === undefined) return realpath(await mkdtemp(path.join(tmpdir(), 'mahabharatha-demo-')));
  const folder = path.resolve(cwd, named);
  const there = await stat(folder).catch(() => undefined);
  if (there?.isDirectory() === false)
    throw libErrors.USAGE({ problem: `${folder} is a file.`, hint: 'Name an empty or new folder.' });
  await makeFolder(folder);
  if ((await readdir(folder)).length > 0) throw cliErrors.DEMO_FOLDER_NOT_EMPTY({ path: folder });
  return realpath(folder);
}

/** In a fresh clone the program is not on the PATH. */
async function howToCall({ env }: CliContext): Promise<Printable> {
  if ((await findProgram('mahabharatha', env)) !== undefined) return line``;
  const program = fileURLToPath(new URL('../../../bin/mahabharatha.js', import.meta.url));
  return line`  alias mahabharatha='node ${program}'\n`;
}

function whatToLookAt(folder: string, alias: Printable): Printable {
  const { feature } = GRAPH;
  return line`
Look at it:
  cd ${folder}
${alias}  git log --graph --oneline --all          every task is one commit, merged level by level
  cat .mahabharatha/specs/${feature}/task-graph.json
  mahabharatha status                      how the run stands
  mahabharatha logs --tail all             what the workers did
  mahabharatha merge && bash greet.sh      bring it into main and run it
  mahabharatha cleanup                     leaves no trace but your merge
Throw it away:
  rm -rf ${folder}
`;
}
