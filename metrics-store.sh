#!/usr/bin/env bash
# Starts VictoriaMetrics on loopback, as Quayside needs it. Finds the program on PATH or in the cache, else builds it
# from tools/go.mod.
#   METRICS_STORE_PORT (8428)  METRICS_RETENTION (12)  DATA_DIR (.data)  QUAYSIDE_CACHE
#   --install-only: makes sure that the program is there and prints its path. Other arguments are handed to the server.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=victoria-metrics
module=VictoriaMetrics/VictoriaMetrics
package=github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics
title='metrics store'
build_time='a minute'
# shellcheck source=tools/cached-program.sh
. "$root/tools/cached-program.sh"

program=$(command -v victoria-metrics || true)
if [ -z "$program" ]; then
  [ -x "$cached" ] || install_program
  program=$cached
fi
if [ "${1:-}" = --install-only ]; then
  printf '%s\n' "$program"
  exit 0
fi

# Windows of five minutes are sent anew as they grow: of each the store keeps the last state.
exec "$program" \
  -storageDataPath="${DATA_DIR:-.data}/metrics" -httpListenAddr="127.0.0.1:${METRICS_STORE_PORT:-8428}" \
  -retentionPeriod="${METRICS_RETENTION:-12}" -dedup.minScrapeInterval=5m -search.latencyOffset=0s \
  -search.maxQueryDuration=30s -memory.allowedBytes=128MB -loggerLevel=WARN \
  "$@"
