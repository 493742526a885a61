import { describe, expect, it } from 'vitest';
import { newSpec } from '../../../test/support/containers.ts';
import type { ContainerSpec, Mount } from '../engine.ts';
import { toCreateArguments } from './container-arguments.ts';
import { lacksOf, readVersion } from './version.ts';

const NOW = readVersion('container CLI version 1.2.2 (build: release, commit: 0e2d8bc)');
const OLD = readVersion('container CLI version 0.12.1');
const spec = (more: Partial<ContainerSpec> = {}): ContainerSpec => newSpec('x:1', 'echo', { name: 'web', ...more });
const args = (more: Partial<ContainerSpec> = {}, version = NOW): string =>
  toCreateArguments(spec(more), version).join(' ');
const mounts = (...wished: Mount[]): string => args({ mounts: wished });

describe('the arguments that create a container', () => {
  it('lock it down', () => {
    const text = args({ cpus: 1.5, memoryBytes: 300_000_000 });
    expect(text).toContain(
      'create --rm --read-only --init --interactive --name web --uid 4711 --gid 4712 --workdir / ',
    );
    expect(text).toContain('--cpus 2 --memory 287M --network none --no-dns --cap-drop ALL');
    expect(text).toContain('--ulimit nproc=50:50 --ulimit fsize=1000000000:1000000000 --ulimit core=0:0');
    expect(text).toMatch(/--entrypoint bash x:1 -c echo$/);
  });

  it('leave out what versions before 1.0 refuse', () => expect(args({}, OLD)).not.toMatch(/--cap-drop|--ulimit/));

  it('ask for the least memory that the program takes', () =>
    expect(args({ memoryBytes: 1 })).toContain('--memory 200M'));

  it('keep three rights of an agent that switches users', () => {
    const text = args({ switchesUsers: true });
    expect(text).toContain('--uid 0 --gid 0');
    expect(text).toContain('--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_KILL --ulimit');
  });

  it('never make another first program root', () => {
    expect(() => args({ uid: 0 })).toThrow('container web would run as 0:4712');
  });

  it('remove variables of the image by a program', () => {
    expect(args({ env: { A: '1=2', B: null } })).toMatch(/--env A=1=2 .*--entrypoint env x:1 -u B bash -c echo$/);
  });

  it('keep the command of the image', () => expect(args({ command: [] })).toMatch(/ x:1$/));

  it('have labels without a second "="', () =>
    expect(args({ labels: { a: 'b=c%' } })).toContain('--label a=b%3Dc%25 '));

  it('mount folders, volumes and memory', () => {
    expect(
      mounts(
        { kind: 'bind', source: '/a b', target: '/in', readOnly: true },
        { kind: 'volume', name: 'v', target: '/v', readOnly: false },
        { kind: 'tmpfs', target: '/tmp', bytes: 1_500_000, mode: 0o700, uid: 4711, gid: 4711, exec: false },
        { kind: 'tmpfs', target: '/root', bytes: 1, mode: 0o700, uid: 0, gid: 0, exec: true },
      ),
    ).toContain(
      '--mount type=bind,source=/a b,destination=/in,readonly --mount type=volume,source=v,destination=/v --mount type=tmpfs,destination=/tmp,size=2M,mode=1777 --mount type=tmpfs,destination=/root,size=1M,mode=700',
    );
  });

  it('write a folder with signs of the one form in the other', () => {
    const folder = { kind: 'bind', target: '/in', readOnly: true } as const;
    expect(mounts({ ...folder, source: '/a=b,c' })).toContain('--volume /a=b,c:/in:ro');
    expect(mounts({ ...folder, source: '/a:b' })).toContain('--mount type=bind,source=/a:b,');
    expect(() => mounts({ ...folder, source: '/a:b=c' })).toThrow('has both ":" and one of ",=" in its name');
  });

  it('have no overlays', () => {
    const overlay = { kind: 'overlay', lower: ['/a'], upper: '/b', work: '/c', target: '/d' } as const;
    expect(() => mounts(overlay)).toThrow('could not create container web: Apple\'s "container" mounts no overlays');
  });
});

describe('the version', () => {
  it('decides what the engine lacks', () => {
    expect([NOW.text, OLD.text]).toEqual(['1.2.2', '0.12.1']);
    expect(lacksOf(OLD).filter((lack) => !lacksOf(NOW).includes(lack))).toEqual(['dropped-rights']);
    expect(lacksOf(NOW)).toContain('renames');
  });

  it.each(['', 'container', 'version one'])('is refused when it cannot be read: "%s"', (text) => {
    expect(() => readVersion(text)).toThrow('names none that can be read');
  });
});
