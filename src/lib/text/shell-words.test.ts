import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { asCommand } from './shell-words.ts';

it.each([[['git', 'push', 'origin', 'a:refs/heads/b']], [["it's", '', '$HOME `id` "x"', '-n', '*', '\\', 'é', '~']]])(
  'a shell reads %j as they are',
  (words) => {
    const printed = execFileSync('sh', ['-c', `set -- ${asCommand(words)}; printf '%s\\0' "$@"`], { encoding: 'utf8' });
    expect(printed.split('\0').slice(0, -1)).toEqual(words);
  },
);

it('leaves words that need no quotes as they are', () => {
  expect(asCommand(['git', 'push', 'origin', 'a:refs/heads/b'])).toBe('git push origin a:refs/heads/b');
});
