import { readdirSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { witness } from '../support/host-witness.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

/**
 * Puts a program wherever git looks for one. It leaves a mark in a folder that only the host has, under the name of the
 * place it was started from, and else does what a filter should.
 */
const planting = (mark: string): string => `
git init --quiet nested
git -C nested -c user.name=x -c user.email=x commit --quiet --allow-empty --message x
evil() { echo "sh -c 'test -d \\"${mark}\\" && touch \\"${mark}/ran-$1\\"; cat'"; }
for hook in applypatch-msg commit-msg fsmonitor-watchman p4-changelist post-applypatch post-checkout post-commit \\
  post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit \\
  pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout \\
  reference-transaction sendemail-validate update; do
  mkdir -p /gitdir/hooks evil-hooks
  printf '#!/bin/sh\\n%s\\n' "$(evil "$hook")" | tee "/gitdir/hooks/$hook" > "evil-hooks/$hook"
  chmod 755 "/gitdir/hooks/$hook" "evil-hooks/$hook"
done
while read -r key; do
  for file in /gitdir/config "$HOME/.gitconfig"; do git config --file "$file" "$key" "$(evil "$key")"; done
done <<'END'
core.fsmonitor
core.pager
core.editor
core.sshCommand
core.askPass
core.gitProxy
core.alternateRefsCommand
sequence.editor
diff.external
diff.evil.command
diff.evil.textconv
filter.evil.clean
filter.evil.smudge
filter.other.process
merge.evil.driver
gpg.program
gpg.ssh.program
credential.helper
uploadpack.packObjectsHook
remote.origin.uploadpack
remote.origin.receivepack
remote.origin.vcs
pager.log
interactive.diffFilter
trailer.evil.command
mergetool.evil.cmd
alias.status
alias.fetch
END
git config --file /gitdir/config core.hooksPath /workspace/evil-hooks
git config --file /gitdir/config commit.gpgSign true
git config --file /gitdir/config extensions.partialClone origin
echo '* filter=evil diff=evil merge=evil' | tee .gitattributes > /gitdir/info/attributes
printf '[submodule "nested"]\n\tpath = nested\n\turl = ext::%s\n\tupdate = checkout\n' "$(evil submodule)" > .gitmodules
mkdir -p evil-repo/objects evil-repo/refs && cp /gitdir/config evil-repo/ && echo 'ref: refs/heads/main' > evil-repo/HEAD
`;

/** A whole repository in the place of the worktree's file, and whatever else has ever led a git astray. */
const REWRITING = `
rm .git && cp -r /gitdir .git && cp -r /objects/0/. .git/objects && rm -f .git/objects/info/alternates
git config --file .git/config --unset core.worktree; touch README.md
cp /gitdir/config nested/.git/config && cp /gitdir/hooks/* nested/.git/hooks/ && mkfifo fifo-of-mine
echo /etc > /gitdir/commondir.evil; ln -s /etc/passwd /gitdir/packed-refs.evil
git update-ref refs/heads/main HEAD; git update-ref refs/mahabharatha/login/B/1 HEAD
git update-ref refs/heads/mahabharatha/login/integration HEAD; git update-ref refs/replace/$(git rev-parse HEAD) HEAD
git tag v1; git stash list; echo "$(git rev-parse HEAD)" > /gitdir/info/grafts
`;

describe.skipIf(docker.why !== '')(`a hostile task in a container${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('plants programs that never run on the host, neither in the run nor in a command after it', async () => {
    project = await createContainerProject();
    const owned = [
      'a.txt',
      '.gitattributes',
      'evil*',
      'evil-hooks/**',
      'evil-repo/**',
      'nested',
      '.gitmodules',
      'fifo*',
    ];
    await project.graph('login', [
      {
        id: 'PLANT',
        create: owned,
        run: `set -e; ${planting(project.outside)}\n echo a > a.txt; set +e; ${REWRITING} sleep 1.5`,
      },
      { id: 'B', create: ['b.txt'], run: 'sleep 1; echo b > b.txt', verify: 'test -s b.txt' },
    ]);
    // Nothing but our own care keeps git from running what stands in a worker's folders.
    project.git('config', '--global', 'safe.directory', '*');
    const before = witness(project);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout).toBe(0);
    expect(project.git('ls-tree', '-r', '--name-only', 'mahabharatha/login/integration')).toContain(
      'evil-hooks/update',
    );
    for (const command of [['status'], ['logs', '--task', 'PLANT'], ['status', '--json']])
      await project.cli(...command);
    expect(witness(project)).toEqual(before);
    project.git('fsck', '--strict', '--no-dangling');
    expect((await project.cli('merge')).exit).toBe(0);
    expect(await project.read('b.txt')).toBe('b\n');
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    expect(readdirSync(project.outside)).toEqual([]);
  });

  it('can write only its own worktree, git directory, outbox and temporary files', async () => {
    project = await createContainerProject();
    const { folder } = project;
    const roots = ['/proc/1/root', '/proc/self/root', '/proc/$PPID/root'];
    const forbidden =
      '/objects/0 /objects/0/pack /run/mahabharatha/inbox /run/mahabharatha/shared / /etc /usr/bin /dev';
    const outward = '/workspace/.. /gitdir/.. /run/mahabharatha/outbox/.. /var/run /sys/fs/cgroup /proc/sys/kernel';
    const ofHost = [folder, `${folder}/.git`, `${folder}/.git/hooks`, `${folder}/.mahabharatha/state`, project.outside];
    const itsOwn = ['/workspace', '/gitdir', '/run/mahabharatha/outbox', '/tmp', '/home/worker', '/dev/shm'];
    const throughRoots = roots.flatMap((root) => [root, `${root}${folder}`]);
    const places = [...forbidden.split(' '), ...outward.split(' '), ...ofHost, ...throughRoots, ...itsOwn];
    const attempts = [
      'mount --bind /workspace /run/mahabharatha/inbox',
      'mount -o remount,rw /objects/0',
      'mount -t tmpfs none /mnt',
      'unshare --mount --map-root-user true',
      'mknod /tmp/disk b 8 0',
      'chroot /proc/1/root true',
      'kill -9 1; kill -0 1 && false',
      'ln /etc/passwd /tmp/passwd',
      'test -S /var/run/docker.sock',
      'dd if=/dev/zero of=/dev/mem bs=1 count=1',
    ];
    const tries = places.map((place) => `touch "${place}/mine" && echo "wrote ${place}" >> found`);
    const breaks = attempts.map((attempt, index) => `(${attempt}) && echo "did ${index}" >> found`);
    await project.graph('login', [
      {
        id: 'REACH',
        create: ['found'],
        run: `exec 2> /dev/null; : > found; ${[...tries, ...breaks].join('; ')}; rm mine; true`,
      },
    ]);
    const before = witness(project);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout).toBe(0);
    expect(witness(project)).toEqual(before);
    const found = project.git('show', 'mahabharatha/login/integration:found').trim().split('\n');
    expect(found).toEqual(itsOwn.map((place) => `wrote ${place}`));
  });
});
