import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { line, printableJson, systemCode } from '../../lib/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { init } from '../commands/init.ts';
import { approveOwn, openProject } from '../../project/index.ts';

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

const EXAMPLE = {
  feature: 'example',
  version: '2.0',
  tasks: [
    {
      id: 'EXAMPLE-L1-001',
      title: 'The greeting',
      description: 'Write the first half of the example.',
      level: 1,
      files: { create: ['mahabharatha-example/greeting.txt'] },
      verification: { command: 'test -s mahabharatha-example/greeting.txt' },
      run: 'mkdir -p mahabharatha-example && echo "Hello" > mahabharatha-example/greeting.txt',
    },
    {
      id: 'EXAMPLE-L1-002',
      title: 'The name',
      description: 'Write the second half, at the same time.',
      level: 1,
      files: { create: ['mahabharatha-example/name.txt'] },
      verification: { command: 'test -s mahabharatha-example/name.txt' },
      run: 'mkdir -p mahabharatha-example && echo "world" > mahabharatha-example/name.txt',
    },
    {
      id: 'EXAMPLE-L2-001',
      title: 'Both together',
      description: 'Put both halves together: they were merged after level 1.',
      level: 2,
      dependencies: ['EXAMPLE-L1-001', 'EXAMPLE-L1-002'],
      files: { create: ['mahabharatha-example/hello.txt'] },
      verification: { command: 'grep -q "Hello world" mahabharatha-example/hello.txt' },
      run: 'paste -d" " mahabharatha-example/greeting.txt mahabharatha-example/name.txt > mahabharatha-example/hello.txt',
    },
  ],
};

/** `init`: writes files that are missing, keeps those that are there. */
export async function initProject(input: InputOf<typeof init>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const files = [
    { file: project.paths.config, text: CONFIG },
    { file: path.join(project.paths.top, '.gitignore'), text: IGNORE },
    { file: project.paths.feature('example').graph, text: `${JSON.stringify(EXAMPLE, undefined, 2)}\n` },
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
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}
