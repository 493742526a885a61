// The system calls that our containers may make. A call that is not named here fails inside as an unknown one. ADR 23 says
// why the list is not the engine's, and test/e2e/container-syscalls.test.ts tries the denied ones.

const ENOSYS = 38;
const EPERM = 1;
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const FILES = words(`
  access chdir chmod chown chown32 close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
  fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchown32 fchownat fdatasync fgetxattr
  flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64 fsync ftruncate ftruncate64 futimesat
  getcwd getdents getdents64 getxattr getxattrat inotify_add_watch inotify_init inotify_init1 inotify_rm_watch ioctl lchown
  lchown32 lgetxattr link linkat listxattr listxattrat llistxattr _llseek lremovexattr lseek lsetxattr lstat lstat64 mkdir
  mkdirat mknod mknodat newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev pwritev2 read
  readahead readlink readlinkat readv removexattr removexattrat rename renameat renameat2 rmdir sendfile sendfile64 setxattr
  setxattrat splice stat stat64 statfs statfs64 statx symlink symlinkat sync_file_range tee truncate truncate64 umask unlink
  unlinkat utime utimensat utimensat_time64 utimes vmsplice write writev
`);

/**
 * Of fcntl: flags, locks, owners of signals (0 to 17 and 36 to 38), copies of descriptors, pipes, seals and hints (1027,
 * 1028, 1030 to 1038). Not 1024 and 1040: with a lease one process keeps all others of its user from a file, even from one
 * that it may only read, for 45 s at each attempt.
 */
const FILE_COMMANDS = [...range(0, 17), ...range(36, 38), 1027, 1028, ...range(1030, 1038)];

const MEMORY = words(`
  brk cachestat madvise map_shadow_stack membarrier memfd_create mincore mlock mlock2 mlockall mmap mmap2 mprotect mremap
  mseal msync munlock munlockall munmap pkey_alloc pkey_free pkey_mprotect remap_file_pages shmat shmctl shmdt
`);

const PROCESSES = words(`
  alarm arch_prctl capget capset execve execveat exit exit_group fork getcpu getegid getegid32 geteuid geteuid32 getgid
  getgid32 getgroups getgroups32 getpgid getpgrp getpid getppid getpriority getresgid getresgid32 getresuid getresuid32
  getrlimit get_robust_list getrusage getsid get_thread_area gettid getuid getuid32 ioprio_get ioprio_set kill
  landlock_add_rule landlock_create_ruleset landlock_restrict_self pause pidfd_open pidfd_send_signal prctl prlimit64
  process_mrelease restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn
  rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo sched_getaffinity sched_getattr sched_getparam
  sched_get_priority_max sched_get_priority_min sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64
  sched_setaffinity sched_setattr sched_setparam sched_setscheduler sched_yield seccomp setfsgid setfsgid32 setfsuid
  setfsuid32 setgid setgid32 setgroups setgroups32 setpgid setpriority setregid setregid32 setresgid setresgid32 setresuid
  setresuid32 setreuid setreuid32 setrlimit set_robust_list setsid set_thread_area set_tid_address setuid setuid32
  sigaltstack sysinfo tgkill times tkill uname vfork wait4 waitid
`);

const WAITING = words(`
  clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep clock_nanosleep_time64 epoll_create
  epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 futex futex_requeue futex_time64 futex_wait
  futex_waitv futex_wake getitimer getrandom gettimeofday nanosleep poll ppoll ppoll_time64 pselect6 pselect6_time64 select
  semctl semop semtimedop semtimedop_time64 setitimer signalfd signalfd4 time timer_create timer_delete
  timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime
  timerfd_gettime64 timerfd_settime timerfd_settime64
`);

const MESSAGES = words(`
  accept accept4 bind connect getpeername getsockname getsockopt listen mq_getsetattr mq_notify mq_timedreceive
  mq_timedreceive_time64 mq_timedsend mq_timedsend_time64 mq_unlink msgctl msgrcv msgsnd recv recvfrom recvmmsg
  recvmmsg_time64 recvmsg send sendmmsg sendmsg sendto setsockopt shutdown
`);

/** Make what stays when its program has ended. */
const IPC_OBJECTS = words('mq_open msgget semget shmget');

/**
 * These fail with EPERM, and not as unknown calls. First those that take what the whole machine shares, then those that
 * reach other processes, then those that change the system.
 */
const DENIED = words(`
  io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents io_pgetevents_time64 io_uring_setup io_uring_enter
  io_uring_register add_key request_key keyctl userfaultfd memfd_secret fanotify_init fanotify_mark sync syncfs
  kcmp pidfd_getfd process_vm_readv process_vm_writev process_madvise move_pages migrate_pages mbind get_mempolicy
  set_mempolicy set_mempolicy_home_node perf_event_open bpf name_to_handle_at open_by_handle_at lookup_dcookie modify_ldt
  unshare setns chroot pivot_root mount umount umount2 mount_setattr move_mount open_tree open_tree_attr fsopen fspick
  fsconfig fsmount statmount listmount quotactl quotactl_fd swapon swapoff acct nfsservctl sysfs ustat uselib vhangup
  _sysctl sethostname setdomainname settimeofday stime adjtimex clock_settime clock_settime64 clock_adjtime
  clock_adjtime64 syslog reboot kexec_load kexec_file_load init_module finit_module delete_module create_module
  query_module get_kernel_syms iopl ioperm
`);

/** The filter compares 64 bits of an argument, the kernel reads 32: so a value can be allowed safely, but not denied. */
type Condition = readonly [argument: number, value: number];

const equals = ([index, value]: Condition): object => ({ index, value, op: 'SCMP_CMP_EQ' });
const masked = (index: number, mask: number, value: number): object => ({
  index,
  value: mask,
  valueTwo: value,
  op: 'SCMP_CMP_MASKED_EQ',
});

const allow = (names: readonly string[], args: readonly object[] = [], more: object = {}): object => ({
  names,
  action: 'SCMP_ACT_ALLOW',
  args,
  ...more,
});
function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const refuse = (names: readonly string[], errnoRet: number): object => ({ names, action: 'SCMP_ACT_ERRNO', errnoRet });

/** What the kernel reads of an argument of 32 bits. */
const WORD = 0xffff_ffff;

const UNIX = 1;
const INTERNET = [2, 10] as const;
const NETLINK = 16;
const NETLINK_ROUTE = 0;
const STREAM_OR_DATAGRAM = [1, 2] as const;
const TYPE_MASK = 0xf;
const ANY_TCP_UDP = [0, 6, 17] as const;

/** A socket of another family or protocol may load a module into the kernel. */
function sockets(): object[] {
  const internet = INTERNET.flatMap((family) =>
    STREAM_OR_DATAGRAM.flatMap((type) => ANY_TCP_UDP.map((protocol) => [family, type, protocol] as const)),
  );
  return [
    allow(['socket', 'socketpair'], [equals([0, UNIX])]),
    ...internet.map(([family, type, protocol]) =>
      allow(['socket'], [equals([0, family]), masked(1, TYPE_MASK, type), equals([2, protocol])]),
    ),
    // C libraries read the machine's own addresses from it.
    allow(['socket'], [equals([0, NETLINK]), equals([2, NETLINK_ROUTE])]),
  ];
}

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NEW_NAMESPACES = 0x7e02_0000;
/** The usual one, and the value that only reads it. */
const PERSONALITIES = [0, 0xffff_ffff] as const;

/** The engine gets it with each container. 32-bit programs are killed, since their calls would evade the conditions. */
export const SECCOMP_PROFILE: string = profile(allow(IPC_OBJECTS));

/** Where programs of many users share a container that outlives them. */
export const SECCOMP_WITHOUT_IPC_OBJECTS: string = profile(refuse(IPC_OBJECTS, ENOSYS));

function profile(ipcObjects: object): string {
  return JSON.stringify({
    defaultAction: 'SCMP_ACT_ERRNO',
    // Older engines ignore this and answer EPERM, except for calls that are newer than all named here.
    defaultErrnoRet: ENOSYS,
    archMap: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'].map((architecture) => ({ architecture, subArchitectures: [] })),
    syscalls: [
      allow([...FILES, ...MEMORY, ...PROCESSES, ...WAITING, ...MESSAGES]),
      ipcObjects,
      ...FILE_COMMANDS.map((command) => allow(['fcntl'], [masked(1, WORD, command)])),
      ...sockets(),
      allow(['clone'], [masked(0, NEW_NAMESPACES, 0)]),
      // Its flags are in memory, where no filter can read them. Without it, C libraries use clone.
      refuse(['clone3'], ENOSYS),
      ...PERSONALITIES.map((value) => allow(['personality'], [equals([0, value])])),
      // For debuggers and leak checkers of a task's own processes. In older kernels a tracer could evade this filter.
      allow(['ptrace'], [], { includes: { minKernel: '4.8' } }),
      refuse(DENIED, EPERM),
    ],
  });
}
