import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  diskReason,
  findProgram,
  libErrors,
  line,
  makeFolder,
  printableJson,
  readUntrusted,
  systemCode,
} from '../../lib/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { init } from '../commands/init.ts';
import {
  approveOwn,
  enginePrograms,
  EXAMPLE_FEATURE,
  graphPlace,
  openProject,
  schemaFile,
} from '../../project/index.ts';
import { detectStacks, IN_IMAGE, PROGRAMS } from './detect-stack.ts';
import type { Stack } from './detect-stack.ts';
import { firstConfig, foundInWords } from './first-config.ts';

const IGNORE = `# What runs leave here is no part of the repository.
state/
logs/
`;

/** Beside the configuration, so that editors find them in each clone. */
const SCHEMAS = ['config.schema.json', 'task-graph.schema.json'] as const;
const LARGEST = 1024 ** 2;

const FOLDER = 'mahabharatha-example';

/** What each task of the example writes, with which command, and how that is checked. */
const TASKS = [
  ['L1-001', 'The greeting', 'Write the first half of the example.', 'greeting.txt', 'echo "Hello"', 'test -s'],
  ['L1-002', 'The name', 'Write the second half, at the same time.', 'name.txt', 'echo "world"', 'test -s'],
  [
    'L2-001',
    'Both together',
    'Put both halves together: they were merged after level 1.',
    'hello.txt',
    `paste -d" " ${FOLDER}/greeting.txt ${FOLDER}/name.txt`,
    'grep -q "Hello world"',
  ],
] as const;

const EXAMPLE = {
  $schema: '../../schemas/task-graph.schema.json',
  feature: EXAMPLE_FEATURE,
  version: '2.0',
  tasks: TASKS.map(([id, title, description, file, command, check]) => ({
    id: `EXAMPLE-${id}`,
    title,
    description,
    ...(id === 'L2-001' ? { level: 2, dependencies: ['EXAMPLE-L1-001', 'EXAMPLE-L1-002'] } : { level: 1 }),
    files: { create: [`${FOLDER}/${file}`] },
    verification: { command: `${check} ${FOLDER}/${file}` },
    run: `mkdir -p ${FOLDER} && ${command} > ${FOLDER}/${file}`,
  })),
};

/** `init`: writes files that are missing, keeps those that are there. */
export async function initProject(input: InputOf<typeof init>, context: CliContext): Promise<number> {
  const project = await openProject(context, { mayBeEmpty: true });
  const inContainers = (await enginePrograms(context.env)).length > 0;
  const stacks = await stacksIn(project.repository.root, inContainers ? IN_IMAGE : await programsHere(context));
  const schemas = SCHEMAS.map(async (name) => ({
    file: path.join(project.paths.top, 'schemas', name),
    text: await readFile(schemaFile(name), 'utf8'),
  }));
  const files = [
    { file: project.paths.config, text: firstConfig(stacks, inContainers) },
    ...(await Promise.all(schemas)),
    { file: path.join(project.paths.top, '.gitignore'), text: IGNORE },
    { file: await graphPlace(project, EXAMPLE_FEATURE), text: `${JSON.stringify(EXAMPLE, undefined, 2)}\n` },
  ];
  const results = [];
  for (const { file, text } of files) {
    results.push({ file: path.relative(project.repository.root, file), written: await writeIfMissing(file, text) });
  }
  if (results[0]?.written === true) await approveOwn(project, 'config.yaml', context);
  if (input.json) {
    context.out(line`${printableJson({ type: 'init', files: results })}\n`);
    return 0;
  }
  const found = foundInWords(stacks);
  if (results[0]?.written === true && found !== undefined) context.out(line`${found}\n`);
  for (const { file, written } of results) context.out(line`${written ? 'written' : 'kept   '}  ${file}\n`);
  if ((await project.repository.readRef('HEAD')) === undefined)
    context.out(line`\nWorkers start from a commit: git add -A && git commit -m "first"\n`);
  context.out(line`\nTry it:  mahabharatha kurukshetra --feature example\n`);
  return 0;
}

/** From the names of files at the top; the text of package.json alone is read. */
async function stacksIn(root: string, programs: ReadonlySet<string>): Promise<readonly Stack[]> {
  const files = new Set(await readdir(root));
  const packageJson = files.has('package.json')
    ? await readUntrusted(path.join(root, 'package.json'), LARGEST)
    : undefined;
  return detectStacks({ files, packageJson, programs });
}

/** Where there is no engine, workers are processes of this machine. */
async function programsHere({ env }: Pick<CliContext, 'env'>): Promise<ReadonlySet<string>> {
  const found = await Promise.all(PROGRAMS.map(async (name) => ((await findProgram(name, env)) ? [name] : [])));
  return new Set(found.flat());
}

async function writeIfMissing(file: string, text: string): Promise<boolean> {
  await makeFolder(path.dirname(file));
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    // Made, but not written: the next call would take it for the person's own.
    const isEmpty = error instanceof Error && 'syscall' in error && error.syscall === 'write';
    if (isEmpty) await rm(file, { force: true });
    throw libErrors.FILE_UNWRITABLE({ file, reason: diskReason(error) }, { cause: error });
  }
}
