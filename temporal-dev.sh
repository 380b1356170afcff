#!/usr/bin/env bash
# Starts the Temporal dev server with its UI, as Quayside needs it. Finds the program on PATH or in the cache, else
# takes the official archive, else builds it from tools/go.mod.
#   TEMPORAL_PORT (7233)  TEMPORAL_UI_PORT (8233)  DATA_DIR (.data)  TEMPORAL_LOG_LEVEL (warn)  QUAYSIDE_CACHE
#   --install-only: makes sure that the program is there and prints its path. Other arguments are handed to the server.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=temporal
module=temporalio/cli
package=github.com/temporalio/cli/cmd/temporal
title='Temporal dev server'
build_time='3 minutes'
# shellcheck source=tools/cached-program.sh
. "$root/tools/cached-program.sh"

# The flag came with version 1.5: older programs lack it.
is_usable() { "$1" server start-dev --help 2>/dev/null | grep -q -- --ui-disable-news-fetch; }

download() {
  local os arch
  case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) return 1 ;; esac
  case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) return 1 ;; esac
  curl --fail --silent --location --connect-timeout 3 --max-time 120 \
    "https://temporal.download/cli/archive/v$version?platform=$os&arch=$arch" 2>/dev/null | tar -xzO temporal >"$draft" 2>/dev/null || return 1
  chmod +x "$draft" && is_usable "$draft"
}

program=$(command -v temporal || true)
if [ -z "$program" ] || ! is_usable "$program"; then
  [ -x "$cached" ] || install_program
  program=$cached
fi
if [ "${1:-}" = --install-only ]; then
  printf '%s\n' "$program"
  exit 0
fi

data=${DATA_DIR:-.data}
mkdir -p "$data"
# The dev server has one history shard and polls its queues 20 times a second at most: without these, every hop of a
# workflow waits up to 50 ms.
exec "$program" server start-dev \
  --ip 127.0.0.1 --port "${TEMPORAL_PORT:-7233}" --ui-port "${TEMPORAL_UI_PORT:-8233}" --namespace default \
  --db-filename "$data/temporal.db" --sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=OFF \
  --ui-disable-news-fetch --log-level "${TEMPORAL_LOG_LEVEL:-warn}" \
  --search-attribute Tenant=Keyword --search-attribute Repository=Keyword \
  --search-attribute TaskType=Keyword --search-attribute EntityId=Keyword \
  --dynamic-config-value history.transferProcessorMaxPollRPS=2000 \
  --dynamic-config-value history.timerProcessorMaxPollRPS=2000 \
  --dynamic-config-value history.visibilityProcessorMaxPollRPS=200 \
  --dynamic-config-value matching.numTaskqueueReadPartitions=1 \
  --dynamic-config-value matching.numTaskqueueWritePartitions=1 \
  --dynamic-config-value history.maxInFlightUpdates=1000 \
  "$@"
