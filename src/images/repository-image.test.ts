import { describe, expect, it } from 'vitest';
import { contextFile } from './content.ts';
import { planRepositoryImage } from './repository-image.ts';
import type { RepositoryIngredients } from './repository-image.ts';

const WORKER_DOCKERFILE =
  'FROM base\nRUN x\n# What makes it a worker: and so on\nUSER 1000:1000\nENTRYPOINT ["work"]\n\nCOPY work /work\n';
const INGREDIENTS: RepositoryIngredients = {
  version: '1.2.3',
  dockerfile: 'FROM mahabharatha-worker\nRUN install-things\n',
  companions: [],
  worker: 'mahabharatha-worker:abc',
  workerDockerfile: WORKER_DOCKERFILE,
};
const plan = (change: Partial<RepositoryIngredients> = {}): ReturnType<typeof planRepositoryImage> =>
  planRepositoryImage({ ...INGREDIENTS, ...change });
const textOf = (dockerfile: string): string =>
  Buffer.from(plan({ dockerfile }).files[0]?.content ?? []).toString('utf8');

describe("a repository's own image", () => {
  it('is built on the exact worker image, and is a worker again at its end', () => {
    expect(textOf(INGREDIENTS.dockerfile)).toBe(
      'FROM mahabharatha-worker:abc\nRUN install-things\n\n# What makes it a worker: and so on\nUSER 1000:1000\nENTRYPOINT ["work"]\n',
    );
  });

  it.each([
    ['FROM mahabharatha-worker:latest', 'FROM mahabharatha-worker:abc'],
    [
      'from --platform=linux/arm64 mahabharatha-worker as me',
      'from --platform=linux/arm64 mahabharatha-worker:abc as me',
    ],
    ['FROM golang:1 AS go\nFROM mahabharatha-worker', 'FROM golang:1 AS go\nFROM mahabharatha-worker:abc'],
    ['FROM mahabharatha-worker AS a\nFROM a AS b\nFROM b', 'FROM mahabharatha-worker:abc AS a\nFROM a AS b\nFROM b'],
  ])('may begin with %j', (dockerfile, pinned) => {
    expect(textOf(dockerfile).startsWith(`${pinned}\n`)).toBe(true);
  });

  it.each(['FROM debian', 'FROM mahabharatha-worker AS w\nFROM debian', 'FROM mahabharatha-worker-x', '', '# FROM'])(
    'is refused when its last stage is something else: %j',
    (dockerfile) => {
      expect(() => plan({ dockerfile })).toThrow(/last stage of .mahabharatha\/Dockerfile is not built on/);
    },
  );

  it.each<[string, Partial<RepositoryIngredients>]>([
    ['its Dockerfile', { dockerfile: 'FROM mahabharatha-worker\n' }],
    ['a file beside it', { companions: [contextFile('docker/tool', 'x')] }],
    ['the worker image', { worker: 'mahabharatha-worker:def' }],
    ['our version', { version: '2.0.0' }],
  ])('has another tag when %s changes', (_, change) => {
    expect(plan().tag).toMatch(/^mahabharatha-repository:[0-9a-f]{12}$/);
    expect(plan(change).tag).not.toBe(plan().tag);
  });
});
