import { expect, it } from 'vitest';
import { inContainers } from '../support/container-scene.ts';
import { simpleTask } from '../support/project.ts';

/**
 * Whatever a process may do to another one of its user, tried on the worker and on the first process, which no end of a
 * task ends; what works says so. The worker goes on, or the attempt is lost.
 */
const ATTACK = `
worker=$(grep -lz worker.mjs /proc/[0-9]*/cmdline | grep -v self | cut -d / -f 3 | sort -n | while read -r pid; do
  [ "$(tr '\\0' '\\n' < /proc/$pid/cmdline | head -1)" = /opt/mahabharatha/node ] && echo $pid; done | head -1)
{
  echo "found $([ "$worker" -gt 1 ] && echo it)"
  for victim in $worker 1; do
    for file in environ mem maps auxv fd/0 cwd/. root/.; do
      timeout 60 head -c 1 /proc/$victim/$file > /dev/null 2>&1; case $? in 0|124) echo "read $file of $victim";; esac
    done
    ls /proc/$victim/fd /proc/$victim/map_files > /dev/null 2>&1 && echo "listed the files of $victim"
    { echo x >> /proc/$victim/fd/1; } 2> /dev/null && echo "wrote the output of $victim"
    { true >> /proc/$victim/mem; } 2> /dev/null && echo "opened the memory of $victim"
    perl -e 'my ($pid) = @ARGV; my $ptrace = \`uname -m\` =~ /x86_64/ ? 101 : 117;
      for my $how (16, 0x4206) { $! = 0; syscall($ptrace, $how, $pid + 0, 0, 0) == -1 or print "traced $pid by $how\\n" }' $victim
  done
  kill -USR1 $worker && echo 'sent SIGUSR1'
  for try in 1 2 3 4 5 6 7 8 9 10; do
    (echo > /dev/tcp/127.0.0.1/9229) 2> /dev/null && echo 'the debugger is open'; sleep 0.1; done
  node -e 'process.exitCode = require("fs").readFileSync("/proc/self/environ").length > 0 ? 0 : 1' && echo 'its own programs are as ever'
} > A.txt`;

inContainers("a task that attacks its worker's process", (scene) => {
  it('can neither trace it, read it, nor open its debugger, but may do so with its own processes', async () => {
    const { project } = scene;
    await project.graph('login', [simpleTask('A', { run: ATTACK })]);
    const { exit, stdout, stderr } = await project.cli('kurukshetra', '--workers', '1');
    expect(exit, stdout + stderr).toBe(0);
    const said = project.git('show', 'mahabharatha/login/integration:A.txt').trim().split('\n');
    expect(said).toEqual(['found it', 'sent SIGUSR1', 'its own programs are as ever']);
    const attempts = (await project.state()).tasks['A']?.attempts.map(({ outcome }) => outcome);
    expect(attempts).toEqual(['accepted']);
  });
});
