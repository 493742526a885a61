# An interpreter of Python that stays in its sandbox, with the usual modules loaded, and forks for each program. It is root
# with the right to become another user; what a program is, its file, input and environment, is read after the fork alone.
# While no program runs, the process of the next one is forked ahead: it waits for its request.
# The agent of the sandbox starts it: descriptor 3 leads to the agent, and no program gets it.
#
# All of it is one frame, the only one below those of a program.
names = dict(globals())

import sys

bare = set(sys.modules)

import os

# The agent's real user is root, so its kill(-1) for one user would reach this process, too, if the real user here were root.
# Nothing else has this one.
NOBODY = 60001
os.setresuid(NOBODY, 0, NOBODY)

import resource, signal, gc, select, io, time, builtins, binascii, fcntl, types, atexit, weakref
import bisect, collections, contextlib, copy, dataclasses, datetime, decimal, enum, fractions, functools, heapq, itertools
import json, math, operator, random, re, statistics, string, textwrap, threading, typing
from importlib.machinery import ExtensionFileLoader, SourceFileLoader

CONTROL = 3
F_SETPIPE_SZ = 1031
# After the end of a program, before the process of the next one is forked.
IDLE_S = 0.005
MARK = "__mahabharatha__"

with open(os.path.join(os.path.dirname(__file__), "end-program.py"), "rb") as file:
    exec(compile(file.read(), file.name, "exec"))


def fork_ahead():
    """A process that waits for its request. Returns 0 in it, and its pid here."""
    global taker, giver, ahead
    taker, giver = os.pipe()
    try:
        ahead = os.fork()
    except OSError:
        os.close(giver)
        raise
    finally:
        if ahead != 0:
            os.close(taker)
    if ahead != 0:
        children[ahead] = None
    return ahead


def leave_ahead():
    global ahead
    ahead = None
    os.close(giver)


def hand_over(request):
    """False when the process that waits has been killed."""
    try:
        os.write(giver, request)
        children[ahead] = request.decode().split(" ")
        return True
    except BrokenPipeError:
        return False
    finally:
        leave_ahead()


def warm_up():
    """What is done for the first time takes longest: memory that is shared with the server is copied when it is written to."""
    exec(compile("print(1, file=file)", "", "exec", 0, True), {"file": io.StringIO()})
    ends_simply()
    flush_files()


wake, woken = os.pipe()
for end in (wake, woken):
    os.set_blocking(end, False)
signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
signal.signal(signal.SIGCHLD, lambda *_: None)
server = os.getpid()
loaded = {name: module for name, module in sys.modules.items() if name not in bare}
# Never taken apart: a program would do that at its end to all modules, those too that it does not know.
kept = [globals(), loaded]
gc.collect()
gc.freeze()
os.write(CONTROL, b"ready\n")

unread = b""
requests = []
children = {}
ahead = pid = None
while pid != 0:
    # Not at once: the end of a program is told meanwhile.
    is_idle = ahead is None and not any(children.values())
    readable, _, _ = select.select([CONTROL, wake], [], [], IDLE_S if is_idle else None)
    if is_idle and not readable:
        with contextlib.suppress(OSError):
            pid = fork_ahead()
        continue
    if wake in readable:
        os.read(wake, 4096)
        while children:
            ended, status, used = os.wait4(-1, os.WNOHANG)
            if ended == 0:
                break
            request = children.pop(ended)
            if ended == ahead:
                leave_ahead()
            if request is None:
                continue
            if os.path.exists(request[1]):
                # It was killed before it had taken it.
                requests.append(" ".join(request).encode())
                continue
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else "-"
            ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else "-"
            took = "%d %d" % ((used.ru_utime + used.ru_stime) * 1e6, used.ru_maxrss * 1024)
            os.write(CONTROL, ("end %s %s %s %s\n" % (request[0], code, ended_by, took)).encode())
    if CONTROL in readable:
        chunk = os.read(CONTROL, 4096)
        if chunk == b"":
            os._exit(0)
        *lines, unread = (unread + chunk).split(b"\n")
        requests += lines
    while requests and pid != 0:
        number, place, *_ = requests[0].decode().split(" ")
        if not os.path.exists(place):
            requests.pop(0)
            continue
        if ahead is None:
            try:
                pid = fork_ahead()
            except OSError as error:
                os.write(CONTROL, ("problem %s %s\n" % (number, error.strerror)).encode())
                requests.pop(0)
        elif hand_over(requests[0]):
            requests.pop(0)

# From here on it is the process of one program, which may come.
try:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor in (giver, wake, woken):
        os.close(descriptor)
    os.setsid()
    resource.setrlimit(resource.RLIMIT_NPROC, (48, 48))
    os.setgroups([])
    os.umask(0o077)
    os.environ.clear()
    warm_up()
    request = os.read(taker, 4096).decode()
    # The server has ended.
    if request == "":
        os._exit(0)
    os.close(taker)
    number, place, *outputs = request.split(" ")
    with open(place, "rb") as file:
        uid, folder, program, given, count, *rest = file.read().decode("utf-8", "surrogateescape").split("\0")
    # Fails when the agent has taken the request back: then nothing may be written.
    os.unlink(place)
    for target, output in enumerate(outputs, 1):
        descriptor = os.open(output, os.O_WRONLY)
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.write(CONTROL, ("pid %s %d %d\n" % (number, os.getpid(), time.process_time_ns() / 1000)).encode())
    os.close(CONTROL)
    descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
    os.write(descriptor, b"1000")
    os.close(descriptor)
    os.nice(10)
    os.setgid(int(uid))
    os.setuid(int(uid))
    if os.getppid() != server:
        os._exit(1)
    # Now, so that the program may open it as /dev/stdin.
    if given != "-":
        content = binascii.a2b_base64(given)
        taker, giver = os.pipe()
        fcntl.fcntl(giver, F_SETPIPE_SZ, max(4096, len(content)))
        os.write(giver, content)
        os.close(giver)
        os.dup2(taker, 0)
        os.close(taker)
    os.environ.update(each.split("=", 1) for each in rest[int(count):])
    time.tzset()
    os.chdir(folder)
    sys.argv[:] = [program, *rest[: int(count)]]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[-1:] = sys.argv
    if not sys.flags.isolated and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(program)
        # A file beside the program comes before a module of the library, also before one that is loaded already.
        own = {entry.split(".")[0] for entry in os.listdir(sys.path[0])}
        for name in [name for name in loaded if name.split(".")[0] in own]:
            del sys.modules[name]
    main = types.ModuleType("__main__")
    main.__dict__.update(names)
    main.__file__ = program
    main.__loader__ = SourceFileLoader("__main__", program)
    if "__annotations__" in names:
        main.__annotations__ = {}
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    with open(program, "rb") as file:
        source = file.read()
except BaseException as error:
    os.write(2, ("%s\n" % error).encode())
    os._exit(126)
status = None
try:
    exec(compile(source, program, "exec", 0, True), main.__dict__)
    status = 0
except SystemExit as error:
    status = 0 if error.code is None else error.code
    if type(status) is not int or abs(status) >= 2**31:
        status = None
        raise
    status &= 255
except BaseException:
    hook = sys.excepthook

    def without_server(kind, error, trace):
        error.__traceback__ = trace.tb_next
        hook(kind, error, trace.tb_next)

    sys.excepthook = without_server
    raise
finally:
    del main
    if status is None:
        leave_loaded()
if ends_simply():
    try:
        end_program(status)
    except Exception:
        # The interpreter says it in its own words.
        pass
leave_loaded()
raise SystemExit(status)
