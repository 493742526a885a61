import { chmod, readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { inContainers } from '../support/container-scene.ts';

const OUTBOX = '/run/mahabharatha/outbox';
const GREEN = 'exit 0 # red';

/** Reports in the name of its worker, which is stopped, what it likes: `$1` is JSON of the result. */
const FORGE = `
cat > /tmp/forge.mjs <<'END'
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const file = '${OUTBOX}/status.json';
const result = JSON.parse(process.argv[2]);
for (const end = Date.now() + Number(process.argv[3]); Date.now() < end; await new Promise((go) => setTimeout(go, 20))) {
  const status = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(file + '.x', JSON.stringify({ ...status, phase: 'idle', attempt: null, beat: status.beat + 1, result }));
  renameSync(file + '.x', file);
}
END
stop_worker() {
  for pid in $(ls /proc | grep '^[0-9]*$'); do
    [ "$(tr '\\0' '\\n' < /proc/$pid/cmdline 2> /dev/null | head -1)" = /opt/mahabharatha/node ] && kill -STOP $pid
  done
}
forge() { node /tmp/forge.mjs "$1" "$2"; }`;

/** Commits and reports itself, with its worker stopped; in the report it says what else it likes. */
const asWorker = (then: string): string => `${FORGE}
id=$MAHABHARATHA_TASK
echo done > $id.txt; git add $id.txt; git -c user.name=x -c user.email=x commit --quiet --message x
commit=$(git rev-parse HEAD); git bundle create --quiet ${OUTBOX}/work.bundle $(git symbolic-ref HEAD) ^HEAD~1
stop_worker
${then}`;

const verified =
  '{\\"kind\\":\\"task\\",\\"attempt\\":\\"$id.1\\",\\"outcome\\":\\"verified\\",\\"detail\\":\\"\\",\\"feedback\\":\\"\\",\\"commit\\":\\"$commit\\",\\"usage\\":null,\\"resetAt\\":null}';

/**
 * Ways to make \`bash check.sh\`, red in each commit, answer green in a verification or a gate, without a change of it in
 * the commit. Each task also leaves what it can.
 */
const ATTACKS: Readonly<Record<string, string>> = {
  STAT: `touch -r check.sh /tmp/t; printf "${GREEN}\\n" > check.sh; touch -r /tmp/t check.sh; git update-index --assume-unchanged check.sh`,
  SKIP: `git update-index --skip-worktree check.sh; echo exit 0 > check.sh`,
  OBJECT: `
    o=$(git rev-parse HEAD:check.sh); h=$(printf "${GREEN}\\n" | git hash-object -w --stdin)
    mkdir -p /gitdir/objects/\${o:0:2}; cp /gitdir/objects/\${h:0:2}/\${h:2} /gitdir/objects/\${o:0:2}/\${o:2}
    rm check.sh; git checkout check.sh; git update-index --assume-unchanged check.sh`,
  REPLACE: `
    h=$(printf "${GREEN}\\n" | git hash-object -w --stdin); git replace $(git rev-parse HEAD:check.sh) $h
    echo "$(git rev-parse HEAD)" > /gitdir/info/grafts; git update-index --assume-unchanged check.sh`,
  FILTER: `
    printf 'check.sh filter=evil\\n' > /gitdir/info/attributes
    for file in /gitdir/config ~/.gitconfig; do git config --file $file filter.evil.smudge 'echo exit 0'; git config --file $file filter.evil.clean 'git show HEAD:check.sh'; done`,
  HOOK: `
    printf '#!/bin/sh\\necho exit 0 > check.sh\\n' > /gitdir/hooks/post-checkout; chmod +x /gitdir/hooks/post-checkout
    for file in /gitdir/config ~/.gitconfig; do git config --file $file core.hooksPath /gitdir/hooks; git config --file $file core.fsmonitor /gitdir/hooks/post-checkout; done`,
  PATH: `
    for place in ~/bin ~/.local/bin node_modules/.bin /tmp ignored /usr/local/bin /usr/local/sbin; do
      mkdir -p $place; for name in bash sh git node npm; do printf '#!/bin/sh\\nexit 0\\n' > $place/$name; chmod +x $place/$name; done
    done 2> /dev/null`,
  HOME: `
    for file in .bashrc .profile .bash_profile .bash_login .zshenv .config/fish/config.fish .inputrc .env; do
      mkdir -p ~/.config/fish; printf 'bash() { true; }\\nexit 0\\n' > ~/$file; done
    printf 'script-shell=/bin/true\\nprefix=/tmp\\n' > ~/.npmrc; printf 'script-shell=/bin/true\\n' > ignored/.npmrc
    export BASH_ENV=~/.bashrc ENV=~/.bashrc; ln -sf /bin/true ~/bash`,
  IGNORED: `git update-index --assume-unchanged check.sh; cp check.sh ignored/; echo exit 0 > ignored/check.sh; ln -sf ignored/check.sh check.sh`,
  DAEMON: `
    git update-index --assume-unchanged check.sh
    setsid sh -c 'while :; do echo exit 0 > /workspace/check.sh; sleep 0.01; done' > /dev/null 2>&1 &
    (setsid sh -c '(trap "" HUP TERM INT; exec -a 98765 sleep 98765) & exec sleep 98765' > /dev/null 2>&1 &)
    until grep -q 'exit 0' check.sh && grep -lzx 98765 /proc/[0-9]*/cmdline > /dev/null 2>&1; do sleep 0.02; done`,
  INOTIFY: `
    git update-index --assume-unchanged check.sh
    cat > /tmp/watch.mjs <<'END'
import { watch, writeFileSync } from 'node:fs';
for (const folder of ['/workspace', '/gitdir', '/run/mahabharatha/inbox', '${OUTBOX}'])
  watch(folder, () => { try { writeFileSync('/workspace/check.sh', '${GREEN}\\n'); } catch {} });
setInterval(() => undefined, 1000);
END
    setsid node /tmp/watch.mjs > /dev/null 2>&1 & sleep 0.3`,
  TRACE: `
    for pid in $(ls /proc | grep '^[0-9]*$'); do
      [ "$(tr '\\0' '\\n' < /proc/$pid/cmdline 2> /dev/null | head -1)" = /opt/mahabharatha/node ] || continue
      kill -USR1 $pid; { true >> /proc/$pid/mem; } 2> /dev/null && echo traced > /spy/traced
      for try in 1 2 3 4 5; do (echo > /dev/tcp/127.0.0.1/9229) 2> /dev/null && echo open > /spy/debugger; sleep 0.05; done
    done`,
  STOPPED: asWorker(`forge "${verified}" 3000`),
  CLAIM: `${FORGE}
    id=$MAHABHARATHA_TASK
    (setsid node /tmp/forge.mjs "{\\"kind\\":\\"verify\\",\\"attempt\\":\\"$id.1@verification\\",\\"ok\\":true,\\"detail\\":\\"\\",\\"output\\":\\"\\",\\"error\\":null}" 60000 > /dev/null 2>&1 &)
    (setsid node /tmp/forge.mjs '{"kind":"gate","attempt":"@gates-1.1","gates":[{"name":"honest","ok":true,"required":true,"detail":"","output":""}],"error":null}' 60000 > /dev/null 2>&1 &)`,
  SPY: `
    cat > /tmp/spy.mjs <<'END'
import { appendFileSync, readFileSync, readdirSync } from 'node:fs';
const seen = new Set();
setInterval(() => {
  for (const name of readdirSync('/run/mahabharatha/inbox')) {
    let text = ''; try { text = readFileSync('/run/mahabharatha/inbox/' + name, 'utf8'); } catch {}
    for (const [, attempt] of text.matchAll(/"attempt":"([^"]*)"/g)) if (!seen.has(attempt)) { seen.add(attempt); appendFileSync('/spy/seen', process.argv[2] + ' ' + attempt + '\\n'); }
  }
}, 5);
END
    setsid node /tmp/spy.mjs $MAHABHARATHA_TASK > /dev/null 2>&1 &
    until grep -qs "^$MAHABHARATHA_TASK " /spy/seen; do sleep 0.05; done`,
};

/** What no other container may see of them. */
const LEFT = 'for place in ignored ~ /tmp; do mkdir -p $place; echo left > $place/left; done';
const CLEAN =
  'for place in ignored ~ /tmp; do test ! -e $place/left || exit 1; done; ! grep -lzx 98765 /proc/[0-9]*/cmdline && ' +
  'test ! -e ~/.npmrc && test ! -e ~/.gitconfig && test -z "$(git replace --list)" && git diff --quiet HEAD -- check.sh';
/** Green only when the check gives its honest answer, which is red. */
const HONEST = `${CLEAN} && ! bash check.sh && ! npm run --silent check`;

/** A task that says in /spy/fooled when its own worktree is fooled: an attack that does nothing shows nothing. */
const task = (id: string, attack: string, verify?: string) => ({
  id,
  create: [`${id}.txt`],
  run: `${LEFT}\n${attack}\nsleep 0.05; ! bash check.sh || echo $MAHABHARATHA_TASK >> /spy/fooled; echo done > ${id}.txt`,
  ...(verify === undefined ? {} : { verify }),
});

inContainers(
  'tasks that try to fool verifications and gates',
  (scene) => {
    it('are refused where they are red, change no other answer, read nothing of each other, and leave nothing', async () => {
      const { project } = scene;
      await chmod(project.outside, 0o777);
      await project.allowMounts(`{ folder: ${project.outside}, writable: true }`);
      const mount = `{ source: ${project.outside}, target: /spy, read_only: false }`;
      await project.config(
        `workers: { mode: container, container: { network: none, mounts: [${mount}] } }\nretry: { attempts: 1 }\n` +
          `gates: [{ name: honest, command: '${HONEST.replaceAll("'", "''")}' }, { name: red, command: bash check.sh, required: false }]\n`,
      );
      const attacks = Object.entries(ATTACKS);
      await project.graph('login', [
        ...attacks.map(([name, attack]) => task(`V-${name}`, attack, 'bash check.sh')),
        ...attacks.map(([name, attack]) => task(`G-${name}`, attack)),
        task('HONEST', 'true', HONEST),
      ]);
      const { exit, stdout } = await project.cli('kurukshetra', '--workers', '6');
      const { tasks, levels } = await project.state();
      const ends = Object.entries(tasks).map(([id, { attempts }]) => [id, attempts.at(-1)?.outcome]);
      const wanted = [
        ...attacks.map(([name]) => [`V-${name}`, 'verification-failed']),
        ...attacks.map(([name]) => [`G-${name}`, 'accepted']),
        ['HONEST', 'accepted'],
      ];
      expect(Object.fromEntries(ends), stdout).toEqual(Object.fromEntries(wanted));
      expect(exit).toBe(1);
      expect(levels['1']?.gates.map(({ name, ok }) => [name, ok])).toEqual([
        ['honest', true],
        ['red', false],
      ]);
      const published = project.git('ls-tree', '--name-only', 'mahabharatha/login/integration').trim().split('\n');
      expect(published.filter((name) => name.startsWith('V-'))).toEqual([]);
      expect(published.filter((name) => name.startsWith('G-'))).toHaveLength(attacks.length);
      expect(await readdir(project.outside), 'neither traced nor debugged').toEqual(['fooled', 'seen']);
      const fooled = (await readFile(path.join(project.outside, 'fooled'), 'utf8')).trim().split('\n');
      const sure = ['STAT', 'SKIP', 'OBJECT', 'IGNORED', 'DAEMON'].flatMap((name) => [`V-${name}`, `G-${name}`]);
      expect(fooled).toEqual(expect.arrayContaining(sure));
      const seen = (await readFile(path.join(project.outside, 'seen'), 'utf8')).trim().split('\n');
      expect(new Set(seen)).toEqual(new Set(['V-SPY V-SPY.1', 'G-SPY G-SPY.1']));
      expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    });
  },
  {
    prepare: async (project) => {
      await project.write('.gitignore', 'ignored/\nnode_modules/\n');
      await project.write('check.sh', 'exit 1 # red\n');
      await project.write('package.json', '{ "scripts": { "check": "bash check.sh" } }\n');
      project.commit('a check');
    },
  },
);
