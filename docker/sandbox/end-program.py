# The end of a program in a process that fork-server.py has forked. That file runs this one as a part of itself.


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
