import { expect, it } from 'vitest';
import { cacheVolumes } from './caches.ts';

const volumeOf = (repo: string): string | undefined => cacheVolumes(repo, ['npm'], 1000)[0]?.volume;

it('caches are volumes of one repository, and a variable names each to its package manager', () => {
  const [npm, pip, ...others] = cacheVolumes('/home/me/project', ['npm', 'pip'], 1000);
  expect(others).toEqual([]);
  expect(npm).toEqual({
    volume: expect.stringMatching(/^mahabharatha-cache-[0-9a-f]{12}-npm-1000$/),
    labels: { 'mahabharatha.cache': '/home/me/project' },
    target: '/caches/npm',
    env: { npm_config_cache: '/caches/npm' },
  });
  expect(pip).toMatchObject({ target: '/caches/pip', env: { PIP_CACHE_DIR: '/caches/pip' } });
});

it('caches are found again by the next run, and by no other repository', () => {
  expect(volumeOf('/a')).toBe(volumeOf('/a'));
  expect(volumeOf('/a')).not.toBe(volumeOf('/b'));
  expect(volumeOf('/a')).not.toBe(cacheVolumes('/a', ['npm'], 70_000)[0]?.volume);
});
