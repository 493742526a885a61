import { expect, it } from 'vitest';
import type { TaskBrief } from '../protocol/index.ts';
import { buildPrompt } from './index.ts';

const TASK: TaskBrief = {
  id: 'LOGIN-L1-001',
  title: 'Hash passwords',
  description: 'Write a function that hashes a password with scrypt.',
  create: ['src/hash.ts', 'src/hash.test.ts'],
  modify: ['src/index.ts'],
  delete: ['src/md5.ts'],
  read: ['src/config.ts'],
  acceptanceCriteria: ['Two hashes of one password differ', 'A wrong password is refused'],
  context: 'The project uses no dependencies.',
  verification: { command: 'npm test -- hash\nnpm run lint', timeoutMs: 60_000 },
  satisfied: false,
  run: null,
};

it('has the whole task, and what went wrong in the last attempt', () => {
  expect(buildPrompt(TASK, 'npm test: exit status 1\nexpected true, got false\n'))
    .toBe(`# Task LOGIN-L1-001: Hash passwords

Write a function that hashes a password with scrypt.

## Acceptance criteria

- Two hashes of one password differ
- A wrong password is refused

## Files

Create:
- src/hash.ts
- src/hash.test.ts

Modify:
- src/index.ts

Delete:
- src/md5.ts

Read, but do not change:
- src/config.ts

Create, change and delete only these files: a change to any other file makes the attempt fail.

## Context

The project uses no dependencies.

## How the work is checked

This command must succeed. Run it yourself before you finish:

    npm test -- hash
    npm run lint

## Rules

- Work in the current folder.
- Do not commit, and do not change anything with git: your changes to files are committed for you.
- There is no one to answer questions. Decide for yourself, and finish the task in this one session.

## What went wrong in the last attempt

An earlier attempt at this task was rejected for this reason. Correct it.

<feedback>
npm test: exit status 1
expected true, got false
</feedback>
`);
});

it('leaves out what the task does not have', () => {
  const bare: TaskBrief = {
    ...TASK,
    description: '',
    create: [],
    modify: [],
    delete: [],
    read: [],
    acceptanceCriteria: [],
    context: '',
    verification: null,
  };
  expect(buildPrompt(bare, null)).toBe(`# Task LOGIN-L1-001: Hash passwords

## Rules

- Work in the current folder.
- Do not commit, and do not change anything with git: your changes to files are committed for you.
- There is no one to answer questions. Decide for yourself, and finish the task in this one session.
`);
});
