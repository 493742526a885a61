# The first process of a worker's container: starts the worker, passes signals on to it, reaps what tasks leave, and ends
# when the worker does, or when no orchestrator lives any more and the worker has not noticed: a task can stop its worker,
# but not this process. It is run by a copy of bash that its user may not read, so no task can trace it or write to its
# memory: a task in its place would outlive its own end, and could read what the worker gets for later.
# Usage: worker-init -p init.sh <program> <argument>...
# MAHABHARATHA_DEADLINE: seconds without a new lease; none when it is not set.
LEASE=/run/mahabharatha/shared/lease.json
LOOK=5

exec 3<&0 </dev/null 6>&1
# Only the worker has the other end of this pipe, so it ends with the worker. Node gives it to no program that it starts.
exec 4< <(exec 5>&1 1>&6 6>&-; exec "$@" <&3 3<&-)
worker=$!
exec 3<&- 6>&-

for signal in TERM INT HUP; do
  trap "kill -$signal $worker 2>/dev/null" "$signal"
done

silent=0
last=
while :; do
  # A wait that no child process is needed for: a task could stop that, too.
  read -r -t "$LOOK" -u 4
  [ "$?" -gt 128 ] || break
  [ -n "$MAHABHARATHA_DEADLINE" ] || continue
  beat=
  { read -r beat <"$LEASE"; } 2>/dev/null
  silent=$((silent + LOOK))
  [ "$beat" = "$last" ] || silent=0
  last=$beat
  [ "$silent" -lt "$MAHABHARATHA_DEADLINE" ] && continue
  echo "No sign of an orchestrator for $silent s: all in this container ends."
  exit 75
done
wait "$worker"
