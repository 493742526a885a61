import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { line, makeFolder, printableJson, systemCode } from '../../lib/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { init } from '../commands/init.ts';
import { approveOwn, graphPlace, openProject } from '../../project/index.ts';

const CONFIG = `# Mahabharatha. Every key may be left out; what is written here are the defaults.
# All keys are described in schemas/config.schema.json of the package.

agent: claude            # who does tasks without a "run" command: claude, or a name under "agents"

# claude:
#   model: sonnet        # passed on as --model
#   args: []

# agents:                # any other command line agent
#   mine:
#     command: [my-agent, --unattended]
#     prompt: stdin      # stdin, argument ("{prompt}") or file ("{prompt_file}")

workers:
  count: 4
  mode: auto             # container, subprocess (with your own rights), or auto: see kurukshetra --help
  # setup: npm install   # makes a fresh worktree usable; runs again when a merge changes a lock file
  # copy: [".env*"]      # ignored files that tasks need
  task_timeout: 30m      # one attempt of one task
  idle_timeout: 10m      # without a byte of output

retry:
  attempts: 3

ownership: enforce       # a task changes only the files that it declares: enforce, warn or off

# gates:                 # must pass on the merged tree after each level
#   - name: test
#     command: npm test
#     timeout: 10m
`;

const IGNORE = `# What runs leave here is no part of the repository.
state/
logs/
`;

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
  feature: 'example',
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
  const project = await openProject(context);
  const files = [
    { file: project.paths.config, text: CONFIG },
    { file: path.join(project.paths.top, '.gitignore'), text: IGNORE },
    { file: await graphPlace(project, 'example'), text: `${JSON.stringify(EXAMPLE, undefined, 2)}\n` },
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
  for (const { file, written } of results) context.out(line`${written ? 'written' : 'kept   '}  ${file}\n`);
  context.out(line`\nTry it:  mahabharatha kurukshetra --feature example\n`);
  return 0;
}

async function writeIfMissing(file: string, text: string): Promise<boolean> {
  await makeFolder(path.dirname(file));
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}
