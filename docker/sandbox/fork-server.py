# An interpreter of Python that stays in its sandbox, with the usual modules loaded, and forks for each program. It is root
# with the right to become another user; what a program is, its file, input and environment, is read after the fork alone.
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
MARK = "__mahabharatha__"


def added():
    """The modules that the program has loaded."""
    known = bare | loaded.keys()
    return {name: each for name, each in sys.modules.items() if name not in known and type(each) is types.ModuleType}


def ends_simply():
    """Other libraries, and what is to be called at the end, need the whole end of the interpreter."""
    is_python = all(type(vars(each).get("__loader__")) is not ExtensionFileLoader for each in added().values())
    is_usual = sys.stdout is sys.__stdout__ and sys.stderr is sys.__stderr__ and "__main__" in sys.modules
    return is_python and is_usual and atexit._ncallbacks() == 0


def end_program(status):
    """The end of an interpreter, which does not take apart what was there before the program: that would take longest."""
    threading._shutdown()
    flush()
    sys.excepthook, sys.displayhook = sys.__excepthook__, sys.__displayhook__
    flush_files()
    spaces = [mark(each) for each in [sys.modules["__main__"], *added().values()]]
    sys.modules.clear()
    sys.meta_path = sys.path = None
    gc.collect()
    for space in reversed(spaces):
        clear(space())
    gc.collect()
    flush()
    os._exit(status)


class Mark:
    """In the variables of a module: as long as it is there, something still has them."""


def mark(module):
    vars(module)[MARK] = each = Mark()
    return weakref.ref(each)


def clear(found):
    """A function or a class that something else has keeps the variables of its module, but not what is in them."""
    for space in gc.get_referrers(found) if found is not None else []:
        if type(space) is dict and space.get(MARK) is found:
            space.update(dict.fromkeys(space.keys() - {"__builtins__", MARK}))


def flush():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def flush_files():
    """Of the layers of a file that go at once, the first to go may be the one that the others write to."""
    for each in gc.get_objects():
        if type(each) in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):
            with contextlib.suppress(OSError, ValueError):
                each.flush()


def leave_loaded():
    """The end of the interpreter needs one of them: it waits for threads."""
    for name in loaded.keys() - {"threading"}:
        if sys.modules.get(name) is loaded[name]:
            del sys.modules[name]


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

waiting = b""
children = {}
pid = None
while pid != 0:
    readable, _, _ = select.select([CONTROL, wake], [], [])
    if wake in readable:
        os.read(wake, 4096)
        while children:
            ended, status, used = os.wait4(-1, os.WNOHANG)
            if ended == 0:
                break
            number = children.pop(ended)
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else "-"
            ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else "-"
            took = "%d %d" % ((used.ru_utime + used.ru_stime) * 1e6, used.ru_maxrss * 1024)
            os.write(CONTROL, ("end %s %s %s %s\n" % (number, code, ended_by, took)).encode())
    if CONTROL not in readable:
        continue
    chunk = os.read(CONTROL, 4096)
    if chunk == b"":
        os._exit(0)
    *lines, waiting = (waiting + chunk).split(b"\n")
    for line in lines:
        number, place, *outputs = line.decode().split(" ")
        if not os.path.exists(place):
            continue
        outputs = [os.open(output, os.O_WRONLY) for output in outputs]
        try:
            pid = os.fork()
        except OSError as error:
            os.write(CONTROL, ("problem %s %s\n" % (number, error.strerror)).encode())
        else:
            if pid == 0:
                break
            children[pid] = number
            os.write(CONTROL, ("pid %s %d\n" % (number, pid)).encode())
        for output in outputs:
            os.close(output)

# From here on it is the process of one program.
try:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for descriptor in (CONTROL, wake, woken):
        os.close(descriptor)
    with open(place, encoding="utf-8", errors="surrogateescape", newline="") as file:
        uid, folder, program, given, count, *rest = file.read().split("\0")
    # Fails when the agent has taken the request back: then nothing may be written.
    os.unlink(place)
    for target, descriptor in enumerate(outputs, 1):
        os.dup2(descriptor, target)
        os.close(descriptor)
    os.setsid()
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_NPROC, (48, 48))
    os.setgroups([])
    os.setgid(int(uid))
    os.setuid(int(uid))
    if os.getppid() != server:
        os._exit(1)
    os.umask(0o077)
    # Now, so that the program may open it as /dev/stdin.
    if given != "-":
        content = binascii.a2b_base64(given)
        taker, giver = os.pipe()
        fcntl.fcntl(giver, F_SETPIPE_SZ, max(4096, len(content)))
        os.write(giver, content)
        os.close(giver)
        os.dup2(taker, 0)
        os.close(taker)
    os.environ.clear()
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
