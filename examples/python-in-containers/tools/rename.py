"""Renames a name in Python files: python3 tools/rename.py OLD NEW FILE...

Names are found as Python finds them, so texts and comments stay as they are.
"""

import io
import sys
import tokenize


def renamed(source, old, new):
    lines = source.splitlines(keepends=True)
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    # From the end, so that the columns before stay right.
    for token in reversed(tokens):
        if token.type == tokenize.NAME and token.string == old:
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "".join(lines)


def main(old, new, *files):
    for file in files:
        with open(file, encoding="utf-8") as stream:
            source = stream.read()
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(renamed(source, old, new))


main(*sys.argv[1:])
