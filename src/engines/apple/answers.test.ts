import { describe, expect, it } from 'vitest';
import { containersIn, describedImagesIn, imagesIn, shortName, volumesIn } from './answers.ts';

const labels = { 'mahabharatha.run': 'a%3Db%25', 'mahabharatha.engine.created': '2026-08-07T10:00:00.000Z' };
const configuration = {
  id: 'web',
  labels,
  image: { reference: 'docker.io/library/x:1', descriptor: { digest: 'sha256:1', size: 5, mediaType: 'y' } },
  resources: { cpus: 4, memoryInBytes: 1 },
};
const before1 = (status: string, more = {}): object => ({ status, networks: [], configuration, ...more });
const since1 = (state: string, more = {}): object => ({
  id: 'web',
  configuration,
  status: { state, networks: [], ...more },
});
const read = (...containers: object[]): unknown[] => containersIn(JSON.stringify(containers), 'look');

describe('what the program says of containers', () => {
  it.each([
    ['before 1.0', before1],
    ['since 1.0', since1],
  ] as const)('is the same %s', (_, make) => {
    const common = { id: 'web', name: 'web', labels: { 'mahabharatha.run': 'a=b%' } };
    const image = { reference: 'docker.io/library/x:1', digest: 'sha256:1' };
    const createdAt = '2026-08-07T10:00:00.000Z';
    expect(read(make('running', { startedDate: 7.5 }), make('stopped'), make('stopped', { startedDate: 7 }))).toEqual([
      { ...common, image, createdAt, status: 'running' },
      { ...common, image, createdAt, status: 'created' },
      { ...common, image, createdAt, status: 'exited' },
    ]);
    expect(read(make('stopping'), make('something new'))).toMatchObject([{ status: 'other' }, { status: 'other' }]);
  });

  it('may have nothing that we know beside the name', () => {
    expect(read({ status: 'running', configuration: { id: 'other' } })).toMatchObject([{ id: 'other', createdAt: '' }]);
    expect(read()).toEqual([]);
  });

  it.each([
    '',
    'null',
    '{}',
    '[{}]',
    '[{"configuration":{"id":7},"status":"running"}]',
    'ID  IMAGE  OS\nweb',
    '[{"sta',
  ])('is refused when it is something else: %s', (text) => {
    expect(() => containersIn(text, 'list containers')).toThrow(
      /could not list containers: its answer is not understood/,
    );
  });
});

it('reads volumes before and since 1.0', () => {
  const volume = { name: 'v', driver: 'local', labels };
  const found = { name: 'v', labels: { 'mahabharatha.run': 'a=b%' }, createdAt: '2026-08-07T10:00:00.000Z' };
  expect(volumesIn(JSON.stringify([{ ...volume, createdAt: 8e8 }]), 'look')).toEqual([found]);
  expect(volumesIn(JSON.stringify([{ id: 'v', configuration: { ...volume, creationDate: 'x' } }]), 'look')).toEqual([
    found,
  ]);
});

describe('what the program says of images', () => {
  const digest = 'a'.repeat(64);
  const descriptor = { digest: `sha256:${digest}`, size: 1, mediaType: 'x' };
  const variants = [{ platform: { os: 'linux', architecture: 'arm64' }, size: 9, config: { created: 'then' } }];
  const found = { id: `sha256:${digest}`, name: 'x:1' };

  it('is the same before and since 1.0', () => {
    const list = [
      { reference: 'docker.io/library/x:1', descriptor, fullSize: '1 MB' },
      { id: digest, configuration: { name: 'docker.io/library/x:1', descriptor }, variants: [] },
    ];
    expect(imagesIn(JSON.stringify(list), 'look')).toEqual([found, found]);
    const described = [
      { name: 'docker.io/library/x:1', index: descriptor, variants },
      { id: digest, name: 'x:1', configuration: { reference: 'docker.io/library/x:1', descriptor }, variants },
    ];
    expect(describedImagesIn(JSON.stringify(described), 'look')).toMatchObject([found, found]);
  });

  it.each([
    ['docker.io/library/x:1', 'x:1'],
    ['docker.io/some/x', 'some/x:latest'],
    ['here:5000/x', 'here:5000/x:latest'],
    ['ghcr.io/a/b@sha256:1', 'ghcr.io/a/b@sha256:1'],
  ])('gives names without the usual registry: %s', (long, short) => expect(shortName(long)).toBe(short));
});
