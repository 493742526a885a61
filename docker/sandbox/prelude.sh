# Read by the bash of each command of a session, before the command. It reports the working directory on a descriptor of its own,
# so that no output can pass for it: after each change, and at the end. A program in the place of the shell reports none.
mahabharatha_report() {
  { local - && set +x; builtin pwd -P && builtin printf '\0'; } >&3
} 2> /dev/null
cd() {
  { local - && set +x; } 2> /dev/null
  builtin cd "$@" || return
  [ "$BASH_SUBSHELL" != 0 ] || mahabharatha_report
  return 0
}
pushd() {
  { local - && set +x; } 2> /dev/null
  builtin pushd "$@" || return
  [ "$BASH_SUBSHELL" != 0 ] || mahabharatha_report
  return 0
}
popd() {
  { local - && set +x; } 2> /dev/null
  builtin popd "$@" || return
  [ "$BASH_SUBSHELL" != 0 ] || mahabharatha_report
  return 0
}
trap '{ mahabharatha_report; } 2> /dev/null' EXIT
unset BASH_ENV
