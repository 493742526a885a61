import { describe, expect, it } from 'vitest';
import { newPlace, nextOf } from './programs.ts';
import type { Sandbox } from './sandbox.ts';

const UID = 2_000_000_001;

const next = (command: readonly string[], env: Readonly<Record<string, string>> = {}, isForked = false) => {
  const sandbox = { users: { nextProgram: () => UID }, env: { PATH: '/bin', ...env } } as unknown as Sandbox;
  const place = newPlace(sandbox, '.sh');
  return { place, ...nextOf(sandbox, { image: 'any', extension: '.sh', command }, place, isForked) };
};

describe('what is made ahead for the next program', () => {
  it('is its home, its file and a bash that waits itself', () => {
    const { place, ahead, placeAhead } = next(['bash', '{filepath}']);
    expect(placeAhead).toEqual({ uid: UID, home: place.home, file: place.file });
    expect(ahead?.argv).toEqual(['bash', place.file]);
    expect(ahead?.waiting).toEqual({ argv: ['bash', place.file], env: { BASH_ENV: '/opt/mahabharatha/wait.sh' } });
    expect(ahead?.env).not.toHaveProperty('BASH_ENV');
  });

  it.each([[['dash', '{filepath}']], [['bash', '-e', '{filepath}']], [['/opt/bash', '{filepath}']]])(
    'is a shell that waits, and becomes it, for %j',
    (command) => expect(next(command).ahead).toMatchObject({ waiting: null }),
  );

  it.each(['BASH_ENV', 'POSIXLY_CORRECT', 'POSIX_PEDANTIC', 'SHELLOPTS'])(
    'is a shell that waits, and becomes it, in an image that sets %s',
    (name) => expect(next(['bash', '{filepath}'], { [name]: 'x' }).ahead).toMatchObject({ waiting: null }),
  );

  it('is no process where an interpreter forks', () => {
    expect(next(['python3', '{filepath}'], {}, true)).toMatchObject({ ahead: null, placeAhead: { uid: UID } });
  });
});
