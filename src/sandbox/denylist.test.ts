import { expect, it } from 'vitest';
import { deniedBy } from './denylist.ts';

it.each([
  ['rm -rf /', 'rm -rf /'],
  ['rm -fr /', 'rm -rf /'],
  ['/bin/rm -r -f /', 'rm -rf /'],
  ['rm --recursive --force "/"', 'rm -rf /'],
  ['rm -Rf //', 'rm -rf /'],
  ['rm -rf /*', 'rm -rf /'],
  ['cd x && rm -rf / ; ls', 'rm -rf /'],
  ['rm -rf ~', 'rm -rf ~'],
  ['rm -rf "$HOME"', 'rm -rf ~'],
  ['rm -rf ~/', 'rm -rf ~'],
  ['sudo x', 'sudo'],
  ['\\sudo x', 'sudo'],
  ["s'ud'o x", 'sudo'],
  ['X=1 sudo x', 'sudo'],
  ['if true; then sudo x; fi', 'sudo'],
  ['(sudo x)', 'sudo'],
  ['{ sudo x; }', 'sudo'],
  ['echo "$(sudo x)"', 'sudo'],
  ['echo `sudo x`', 'sudo'],
  ['echo a | sudo tee b', 'sudo'],
  ['true &\nsudo x', 'sudo'],
  ['env A=1 sudo x', 'sudo'],
  ['timeout 5 curl x', 'curl'],
  ['ls | xargs -n1 curl', 'curl'],
  ['bash -c "wget x"', 'wget'],
  ['bash -ec \'sh -c "ssh x"\'', 'ssh'],
  ['eval "nc x"', 'nc'],
  ['/usr/bin/curl x', 'curl'],
  ['mount /dev/sda /mnt', 'mount'],
  ['chroot /x', 'chroot'],
  ['mkfs.ext4 /dev/sda', 'mkfs'],
  ['dd if=/dev/zero of=x', 'dd if='],
  ['chmod 777 /', 'chmod 777 /'],
  ['chmod -R 0777 /', 'chmod 777 /'],
  ['chmod a+rwx /', 'chmod 777 /'],
  ['>f sudo x', 'sudo'],
  ['2>&1 sudo x', 'sudo'],
  ['< in > out sudo x', 'sudo'],
  ["$'sudo' x", 'sudo'],
  ['nice -n 5 sudo x', 'sudo'],
  ['env -u A sudo x', 'sudo'],
  ['coproc sudo x', 'sudo'],
  ['find . -name x -exec curl {} \\;', 'curl'],
  ['watch -n 1 sudo x', 'sudo'],
  ['trap "sudo x" EXIT', 'sudo'],
  ['cat <(curl x)', 'curl'],
])('refuses %j by the rule "%s"', (command, rule) => {
  expect(deniedBy(command)).toBe(rule);
});

it.each([
  'echo "mount"',
  'echo sudo',
  'command -v sudo',
  './sudo',
  'find sudo -name curl',
  'echo > sudo; cat < curl',
  'nice -n 5 npm test',
  "grep -r 'rm -rf /' src",
  'rm -rf node_modules /tmp/x ./build',
  'rm /',
  'rm -rf /workspace/x',
  'npm run mount',
  'git commit -m "sudo make; curl it"',
  '# sudo x',
  'echo a # ; sudo x',
  'ls mount sudo',
  'MOUNT=mount npm test',
  'dd of=x bs=1',
  'chmod 777 ./x',
  'echo {sudo,mount}',
  'npm test 2>&1 | tee log',
  './mount.sh',
  'cat <<< "x" > sudo',
  'echo $((1 + 2))',
  '',
  'echo "unfinished',
  "echo 'unfinished",
  'echo $(unfinished',
])('allows %j', (command) => {
  expect(deniedBy(command)).toBeUndefined();
});

it('ends for texts without end', () => {
  expect(deniedBy(`${'$('.repeat(2000)}x`)).toBeUndefined();
  expect(deniedBy('$('.repeat(30_000))).toBeUndefined();
  expect(deniedBy('"`'.repeat(30_000))).toBeUndefined();
  expect(deniedBy(`${'eval '.repeat(20)}true`)).toBe('too many commands inside one another');
});
