# Read by the bash of each command of a session, before the command. It reports the working directory on a descriptor of its own,
# so that no output can pass for it: after each change, and at the end. A program in the place of the shell reports none.
{
  # The agent starts this shell without another one before it.
  if [ -n "${MAHABHARATHA_CWD-}" ]; then
    builtin echo 1000 > /proc/self/oom_score_adj
    builtin cd -- "$MAHABHARATHA_CWD" || {
      builtin cd -- "${WORKSPACE:-$HOME}" || builtin cd -- "$HOME" || builtin cd /
      builtin echo "The working directory $MAHABHARATHA_CWD cannot be entered any more: this command runs in $PWD." >&9
    }
    unset MAHABHARATHA_CWD
  fi
} 9>&2 2> /dev/null
mahabharatha_report() {
  { local - && set +x; builtin pwd -P && builtin printf '\0'; } >&3
} 2> /dev/null
# What the shell says of a change that fails names the place of the call, as it would without these functions.
mahabharatha_change() {
  builtin "$@" 2> /dev/null && {
    [ "$BASH_SUBSHELL" != 0 ] || mahabharatha_report
    return 0
  }
  local mahabharatha_status=$? mahabharatha_said
  mahabharatha_said=$(builtin "$@" 2>&1 > /dev/null) || :
  mahabharatha_said=${mahabharatha_said#*: }
  builtin printf '%s: line %s: %s\n' "${BASH_SOURCE[2]:-$0}" "${BASH_LINENO[1]}" "${mahabharatha_said#*: }" >&2
  return "$mahabharatha_status"
}
cd() {
  { local - && set +x; } 2> /dev/null
  mahabharatha_change cd "$@" || return
}
pushd() {
  { local - && set +x; } 2> /dev/null
  mahabharatha_change pushd "$@" || return
}
popd() {
  { local - && set +x; } 2> /dev/null
  mahabharatha_change popd "$@" || return
}
trap '{ mahabharatha_report; } 2> /dev/null' EXIT
unset BASH_ENV
