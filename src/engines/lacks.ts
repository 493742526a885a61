/**
 * What an engine may be without, in words that follow "it". Docker's has all of it. Code that needs one of them asks
 * `EngineInfo.lacks`; `doctor` and docs/engines.md say what is missing.
 */
export const LACKS = {
  'processes-per-container':
    'limits processes for each user of a container (--ulimit nproc), not for the container, and not those of root',
  'system-calls': 'takes no list of system calls; each container has a kernel of its own instead',
  'new-privileges': 'cannot forbid programs to get more rights, so that a setuid program of an image works',
  'dropped-rights': 'drops none of the rights of root, and takes no limits of files and processes (before version 1.0)',
  overlays: 'mounts no overlays, so that workers make their own checkouts',
  'volumes-for-many': 'gives a volume to one running container at a time, so that no container reaches a proxy',
  'filled-volumes': 'gives a new volume no content, owner and rights of the image, so that sessions have no caches',
  'memory-folders':
    'gives a folder in memory no owner, and cannot forbid programs in it: all of the container may use it',
  renames: 'gives no container another name, so that nothing is kept warm for later',
  terminals: 'opens no terminals in a container',
  exits: 'tells the exit of a container to the process alone that has started it',
  'out-of-memory': 'does not tell that a container ran out of memory',
  logs: 'keeps one log for both outputs, of any size, and cannot keep none',
  hostnames: 'names a host as its container',
  'part-cpus': 'gives whole CPUs (rounded up), and 200 MiB of memory at least',
} as const;

export type Lack = keyof typeof LACKS;
