# Sourced by the scripts that start development servers: finds a program of tools/go.mod in the cache, or builds it there.
# Before it is sourced: `root` is the checkout, `name` the program, `module` what go.mod requires, `package` what is
# built, `title` how people call it, `build_time` how long that takes.
version=$(sed -nE "s|.*$module v([0-9]+\.[0-9]+\.[0-9]+).*|\1|p" "$root/tools/go.mod" | head -n 1)
cache=${QUAYSIDE_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/quayside}
cached=$cache/$name-$version
draft=$cached.$$
build_log=$cache/build-$$.log
lock=$cache/lock
builder=

say() { printf '%s\n' "$*" >&2; }

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
    [ -n "$said" ] || say "Waiting for process ${holder:-?}, which installs a development server ..."
    said=yes
    sleep 0.3
  done
  echo $$ >"$lock/pid"
}

leave() {
  [ -z "$builder" ] || kill "$builder" 2>/dev/null || true
  rm -rf "$draft" "$build_log" "$lock"
}

# A script that knows an archive to download redefines it.
download() { return 1; }

build() {
  if ! command -v go >/dev/null; then
    say "The $title is neither on PATH nor in $cache and cannot be downloaded, and go, which would build it, is not on PATH."
    exit 1
  fi
  say "Building the $title $version (about $build_time on two cores, once per machine) ..."
  local started=$SECONDS waited=0
  (cd "$root/tools" && CGO_ENABLED=0 exec go build -trimpath -ldflags='-s -w' -o "$draft" "$package") >"$build_log" 2>&1 &
  builder=$!
  while kill -0 "$builder" 2>/dev/null; do
    sleep 1
    waited=$((waited + 1))
    if ((waited % 15 == 0)); then say "  ... building, $((SECONDS - started)) s"; fi
  done
  if ! wait "$builder"; then
    tail -n 20 "$build_log" >&2
    say "The $title could not be built: see above."
    exit 1
  fi
  builder=
  say "Built in $((SECONDS - started)) s: $cached"
}

install_program() {
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
