#!/bin/sh
# Healthy is a worker that has written its status lately; it does so every two seconds or more often, whatever its agent does.
# A process that hangs is still there, so being there proves nothing.
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
