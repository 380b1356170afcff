#!/usr/bin/env bash
# Starts the Temporal dev server with its UI, as Quayside needs it. Finds the program on PATH or in the cache, else
# takes the official archive, else builds it from tools/go.mod.
#   TEMPORAL_PORT (7233)  TEMPORAL_UI_PORT (8233)  DATA_DIR (.data)  TEMPORAL_LOG_LEVEL (warn)  QUAYSIDE_CACHE
#   --install-only: makes sure that the program is there and prints its path.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(grep -oE 'temporalio/cli v[0-9]+\.[0-9]+\.[0-9]+' "$here/tools/go.mod" | head -n 1 | sed 's/.* v//')
cache=${QUAYSIDE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/quayside}
cached=$cache/temporal-$version
build_log=$cache/build-$$.log

say() { printf '%s\n' "$*" >&2; }

# Older ones lack flags that the start below uses.
is_usable() { "$1" server start-dev --help 2>/dev/null | grep -q -- --ui-disable-news-fetch; }

download() {
  local os arch archive
  case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) return 1 ;; esac
  case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) return 1 ;; esac
  archive=https://temporal.download/cli/archive/v$version?platform=$os\&arch=$arch
  curl --fail --silent --location --connect-timeout 3 --max-time 120 "$archive" 2>/dev/null | tar -xzO temporal >"$cached.$$" 2>/dev/null || return 1
  chmod +x "$cached.$$" && is_usable "$cached.$$"
}

build() {
  if ! command -v go >/dev/null; then
    say "The Temporal dev server is neither on PATH nor in $cache, cannot be downloaded, and go, which would build it, is not installed."
    exit 1
  fi
  say "Building the Temporal dev server $version (about 3 minutes on two cores, once per machine) ..."
  local started=$SECONDS
  (cd "$here/tools" && CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o "$cached.$$" github.com/temporalio/cli/cmd/temporal) >"$build_log" 2>&1 &
  local builder=$!
  while kill -0 "$builder" 2>/dev/null; do
    sleep 1
    (((SECONDS - started) % 15 == 0)) && say "  ... building, $((SECONDS - started)) s"
  done
  if ! wait "$builder"; then
    cat "$build_log" >&2
    say "The Temporal dev server could not be built."
    exit 1
  fi
  say "Built in $((SECONDS - started)) s."
}

install() {
  mkdir -p "$cache"
  # Of several callers one installs, the others wait for it.
  exec 9>"$cache/lock"
  if command -v flock >/dev/null; then flock 9; fi
  trap 'rm -f "$cached.$$" "$build_log"' EXIT
  if [ ! -x "$cached" ]; then
    download || { rm -f "$cached.$$"; build; }
    mv "$cached.$$" "$cached"
  fi
  trap - EXIT
  rm -f "$build_log"
  exec 9>&-
}

program=$(command -v temporal || true)
if [ -z "$program" ] || ! is_usable "$program"; then
  [ -x "$cached" ] || install
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
  --ip 127.0.0.1 --port "${TEMPORAL_PORT:-7233}" --ui-port "${TEMPORAL_UI_PORT:-8233}" \
  --db-filename "$data/temporal.db" --sqlite-pragma journal_mode=WAL --sqlite-pragma synchronous=OFF \
  --ui-disable-news-fetch --log-level "${TEMPORAL_LOG_LEVEL:-warn}" \
  --search-attribute Tenant=Keyword --search-attribute Repository=Keyword \
  --search-attribute TaskType=Keyword --search-attribute EntityId=Keyword \
  --dynamic-config-value history.transferProcessorMaxPollRPS=2000 \
  --dynamic-config-value history.timerProcessorMaxPollRPS=2000 \
  --dynamic-config-value history.visibilityProcessorMaxPollRPS=200 \
  --dynamic-config-value matching.numTaskqueueReadPartitions=1 \
  --dynamic-config-value matching.numTaskqueueWritePartitions=1 \
  --dynamic-config-value history.maxInFlightUpdates=1000
