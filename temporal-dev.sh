#!/usr/bin/env bash
# Starts the Temporal dev server with its UI, as Quayside needs it. Finds the program on PATH or in the cache, else
# takes the official archive, else builds it from tools/go.mod.
#   TEMPORAL_PORT (7233)  TEMPORAL_UI_PORT (8233)  DATA_DIR (.data)  TEMPORAL_LOG_LEVEL (warn)  QUAYSIDE_CACHE
#   --install-only: makes sure that the program is there and prints its path. Other arguments are handed to the server.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
version=$(sed -nE 's|.*temporalio/cli v([0-9]+\.[0-9]+\.[0-9]+).*|\1|p' "$here/tools/go.mod" | head -n 1)
cache=${QUAYSIDE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/quayside}
cached=$cache/temporal-$version
draft=$cached.$$
build_log=$cache/build-$$.log
lock=$cache/lock
builder=

say() { printf '%s\n' "$*" >&2; }

# The flag came with version 1.5: older programs lack it.
is_usable() { "$1" server start-dev --help 2>/dev/null | grep -q -- --ui-disable-news-fetch; }

# Of several callers one installs, the others wait for it. A folder, because not every system has flock; it holds the
# process id, so that a caller that was killed locks nobody out.
take_lock() {
  local holder said=
  until mkdir "$lock" 2>/dev/null; do
    holder=$(cat "$lock/pid" 2>/dev/null || true)
    if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then
      rm -rf "$lock"
      continue
    fi
    [ -n "$said" ] || say "Waiting for process ${holder:-?}, which installs the Temporal dev server ..."
    said=yes
    sleep 0.3
  done
  echo $$ >"$lock/pid"
}

leave() {
  [ -z "$builder" ] || kill "$builder" 2>/dev/null || true
  rm -rf "$draft" "$build_log" "$lock"
}

download() {
  local os arch
  case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; *) return 1 ;; esac
  case $(uname -m) in x86_64 | amd64) arch=amd64 ;; aarch64 | arm64) arch=arm64 ;; *) return 1 ;; esac
  curl --fail --silent --location --connect-timeout 3 --max-time 120 \
    "https://temporal.download/cli/archive/v$version?platform=$os&arch=$arch" 2>/dev/null | tar -xzO temporal >"$draft" 2>/dev/null || return 1
  chmod +x "$draft" && is_usable "$draft"
}

build() {
  if ! command -v go >/dev/null; then
    say "The Temporal dev server is neither on PATH nor in $cache and cannot be downloaded, and go, which would build it, is not on PATH."
    exit 1
  fi
  say "Building the Temporal dev server $version (about 3 minutes on two cores, once per machine) ..."
  local started=$SECONDS waited=0
  (cd "$here/tools" && CGO_ENABLED=0 exec go build -trimpath -ldflags='-s -w' -o "$draft" github.com/temporalio/cli/cmd/temporal) >"$build_log" 2>&1 &
  builder=$!
  while kill -0 "$builder" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if ((waited % 15 == 0)); then say "  ... building, $((SECONDS - started)) s"; fi
  done
  if ! wait "$builder"; then
    tail -n 20 "$build_log" >&2
    say "The Temporal dev server could not be built: see above."
    exit 1
  fi
  builder=
  say "Built in $((SECONDS - started)) s: $cached"
}

install() {
  mkdir -p "$cache"
  take_lock
  trap leave EXIT
  trap 'exit 130' INT TERM HUP
  if [ ! -x "$cached" ]; then
    download || { rm -f "$draft" && build; }
    chmod +x "$draft"
    mv "$draft" "$cached"
  fi
  leave
  trap - EXIT INT TERM HUP
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
