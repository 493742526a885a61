import { expect, it } from 'vitest';
import { alone, isAlone } from './alone.ts';

const inContainer = { platform: 'linux', marked: true, uid: 1000, parent: 1, init: ['docker-init', 'docker-init'] };

it('recognises a process that has a container to itself, with the init of any engine', () => {
  for (const name of ['worker-init', 'docker-init', 'tini', 'catatonit', 'podman-init']) {
    expect(isAlone({ ...inContainer, init: [name, name] })).toBe(true);
  }
});

it.each([
  ['it was not started in a locked-down container', { marked: false }],
  ['it is root, which may kill any process', { uid: 0 }],
  ['its user is unknown', { uid: undefined }],
  ['another process has started it', { parent: 4711 }],
  ['it is pid 1 itself', { parent: 0 }],
  ["pid 1 is a machine's init", { init: ['systemd', 'systemd'] }],
  ["pid 1 is a machine's init that was given another name", { init: ['docker-init', 'systemd'] }],
  ['pid 1 has the name of an init, but is another program', { init: ['tini', 'bash'] }],
  ['nothing is known of pid 1', { init: [] }],
  ['pid 1 has no name', { init: ['', ''] }],
  ['the system is not Linux', { platform: 'darwin' }],
])('does not take a place for such a container when %s', (_, change) => {
  expect(isAlone({ ...inContainer, ...change })).toBe(false);
});

it('does not take the machine of these tests for such a container', () => {
  expect(alone).toBe(false);
});
