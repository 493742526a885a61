#!/bin/sh
# A worker is healthy when it has written its status lately: it does so at least every two seconds, whatever its agent does.
# That its process exists is not enough, since it may hang.
# Usage: healthcheck.sh [status file] [oldest age in seconds]
status=${1:-/run/mahabharatha/outbox/status.json}
limit=${2:-30}

written=$(stat -c %Y "$status" 2>/dev/null) || { echo "no status yet: $status"; exit 1; }
age=$(($(date +%s) - written))
if [ "$age" -gt "$limit" ]; then
  echo "last beat ${age} s ago, limit ${limit} s"
  exit 1
fi
echo "last beat ${age} s ago"
