import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from './project.ts';
import { fingerprint } from './temp-repository.ts';

/** What no task may change: two equal ones mean that nothing but our own branches and new objects has come. */
export function witness(project: TestProject): unknown {
  const { folder, outside, env } = project;
  const refs = project.git('for-each-ref', '--format=%(refname) %(objectname)').split('\n');
  return {
    git: fingerprint(path.join(folder, '.git'), isOurs),
    tree: fingerprint(folder, (file) => /^\.git(\/|$)|^\.mahabharatha\/(?!specs|config)/.test(file)),
    // A run writes below these, and nothing but what is its own.
    ours: ['config.yaml', 'specs'].map((name) => existsSync(path.join(folder, '.mahabharatha', name))),
    beside: [outside, env['HOME'] ?? outside].map((one) => fingerprint(one, isOurState)),
    refs: refs.filter((line) => !/^refs\/(heads\/)?mahabharatha\//.test(line)),
    head: readFileSync(path.join(folder, '.git', 'HEAD'), 'utf8'),
    status: project.git('status', '--porcelain=v2', '--branch', '--ignored=no'),
  };
}

/** What a run remembers of this machine's person: no task sees any of it. The secret of the snapshots' names stays. */
function isOurState(file: string): boolean {
  if (/mahabharatha\/runs\/snapshots(\/\.secret)?$/.test(file)) return true;
  return !/mahabharatha\/runs\/./.test(file) && /^\.local(\/state(\/mahabharatha(\/.*)?)?)?$/.test(file);
}

/** Objects may come, and with them the branches and logs of ours. */
function isOurs(file: string): boolean {
  return /^objects\/|^(logs\/)?refs(\/heads)?\/mahabharatha|^(logs\/refs|logs\/refs\/heads|refs\/heads|refs)$/.test(
    file,
  );
}
