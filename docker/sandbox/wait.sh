# Read by the bash of a program that may come, before it opens the file of that program: a line at descriptor 3 says that it
# has come.
builtin read -r -u 3 MAHABHARATHA_LINE || builtin exit
builtin unset BASH_ENV MAHABHARATHA_LINE
SECONDS=0
# What a bash that has just started has as $_.
builtin : bash
