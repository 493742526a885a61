# The first process of a worker's container: starts the worker, passes signals on to it, reaps what tasks leave, and ends
# when the worker does. It is run by a copy of bash that its user may not read, so no task can trace it or write to its
# memory: a task in its place would outlive its own end, and could read what the worker gets for later tasks.
# Usage: worker-init -p init.sh <program> <argument>...
exec 3<&0 </dev/null
# Without a redirection of its own it would get no stdin.
"$@" <&3 3<&- &
worker=$!
exec 3<&-

passed=
for signal in TERM INT HUP; do
  trap "passed=yes; kill -$signal $worker 2>/dev/null" "$signal"
done

wait "$worker"
exit=$?
# A signal ends the waiting, not the worker.
while [ -n "$passed" ]; do
  passed=
  wait "$worker"
  exit=$?
done
exit "$exit"
