# Sourced by run and test: what the machine needs, and how the program is built. Everything said here goes to standard error,
# so that the program's own output stays clean. Needs bash and coreutils alone; safe to repeat.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=$root/.deps
setup_log=$deps/setup.log
apt_etc=/etc/apt

packages=(g++ cmake ninja-build pkg-config ccache dpkg-dev xz-utils libglfw3-dev libegl-dev libgl-dev libopengl-dev
  libgl1-mesa-dri libegl-mesa0 libmd4c-dev nlohmann-json3-dev libpng-dev zlib1g-dev libisal-dev libsimdjson-dev libsqlite3-dev libbenchmark-dev fonts-inter
  fonts-jetbrains-mono clang-format)

say() { printf '%s\n' "$*" >&2; }
fail() {
  say "$*"
  exit 1
}

# One instance builds at a time; the lock goes with the shell, and the program that run starts does not inherit it.
take_lock() {
  mkdir -p "$deps" || fail "The folder $root cannot be written: make it writable, or copy Ridgeline to a folder of yours."
  command -v flock >/dev/null || return 0
  exec 9>"$deps/lock"
  flock -n 9 && return 0
  say "Waiting for another ./run or ./test to finish building."
  flock 9
}
drop_lock() { exec 9>&-; }

missing_packages() {
  dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null |
    awk -v wanted="${packages[*]}" '$2 == "installed" { have[$1] = 1 }
      END { n = split(wanted, names, " "); for (i = 1; i <= n; i++) if (!(names[i] in have)) print names[i] }'
}

# as_root COMMAND...: as it is for root, otherwise through sudo, which may ask for a password only on a terminal.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif [ -t 0 ]; then sudo -- "$@"; else sudo -n -- "$@"; fi
}

# Says in one sentence why apt-get failed, from the log of the last call.
apt_failure() {
  local nowhere
  nowhere=$(sed -n 's/^E: Unable to locate package \([^ ]*\).*/\1/p; s/^E: Package .\([^ ]*\). has no installation candidate.*/\1/p' \
    "$setup_log" | sort -u | paste -sd ' ')
  if [ -n "$nowhere" ]; then
    fail "The package archive of this machine has no $nowhere: use Debian 12 or newer, or add an archive that has it, and start again."
  elif grep -qE 'a password is required|not in the sudoers|a terminal is required' "$setup_log"; then
    fail "Installing packages needs root and sudo refused it: as root run apt-get install -y $*, then start again."
  elif grep -qE 'Temporary failure|Could not resolve|Could not connect|Unable to connect|Network is unreachable|Connection (refused|timed out)|Failed to fetch' "$setup_log"; then
    fail "Packages are missing and their archive cannot be reached: check the network (and any proxy that apt needs), then start again."
  elif grep -qE 'Could not get lock|Unable to acquire the dpkg' "$setup_log"; then
    fail "Another program is installing packages: wait until it is done, then start again."
  fi
  fail "apt-get could not install $*: $setup_log says why."
}

install_packages() {
  local missing
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} = 0 ] && return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "Installing packages needs root and there is no sudo: as root run apt-get install -y ${missing[*]}, then start again."
  fi
  say "Installing ${#missing[@]} packages with apt-get: ${missing[*]}"
  # An update that fails for one archive may still leave all that is needed, so the install decides.
  as_root apt-get update >"$setup_log" 2>&1
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}" >>"$setup_log" 2>&1 ||
    apt_failure "${missing[@]}"
}

# Both print the URI of the machine's first Debian archive with component main, then its "Signed-By: ..." if it has one
# (a key may be embedded and span lines). The one for *.list files, one line each:
archive_of_lists() {
  awk -v suites="$(suite_pattern)" '
    $1 == "deb" || $1 == "deb-src" {
      options = ""
      if (match($0, /\[[^]]*\]/)) { options = substr($0, RSTART + 1, RLENGTH - 2); sub(/\[[^]]*\]/, "") }
      if ($2 ~ /^cdrom:/ || $3 !~ suites || !/ main( |$)/) next
      print $2
      n = split(options, option, " ")
      for (i = 1; i <= n; i++) if (sub(/^signed-by=/, "", option[i])) print "Signed-By: " option[i]
      exit
    }' /dev/null "$apt_etc"/sources.list "$apt_etc"/sources.list.d/*.list 2>/dev/null
}
# The one for *.sources files, in paragraphs:
archive_of_sources() {
  awk -v suites="$(suite_pattern)" '
    function finish(  n, names, i, fits) {
      n = split(suite, names, " ")
      for (i = 1; i <= n; i++) if (names[i] ~ suites) fits = 1
      if (!found && uri != "" && fits && (" " components " ") ~ / main / && enabled) {
        found = 1; print uri; if (key != "") print key
      }
      uri = suite = components = key = field = ""; enabled = 1
    }
    FNR == 1 { finish() }
    /^#/ { next }
    /^[ \t]*$/ { finish(); next }
    /^[ \t]/ { if (field == "signed-by") key = key "\n" $0; next }
    { colon = index($0, ":"); field = tolower(substr($0, 1, colon - 1)); value = substr($0, colon + 1); sub(/^[ \t]+/, "", value) }
    field == "types" && value !~ /deb/ { enabled = 0 }
    field == "enabled" && tolower(value) ~ /^(no|false|off|0)/ { enabled = 0 }
    field == "uris" { split(value, uris, " "); uri = uris[1] }
    field == "suites" { suite = value }
    field == "components" { components = value }
    field == "signed-by" { key = "Signed-By: " value }
    END { finish() }' /dev/null "$apt_etc"/sources.list.d/*.sources 2>/dev/null
}
suite_pattern() { printf '^(%s|stable|testing|unstable|sid)$' "$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-sid}")"; }

# fetch_sources: .deps/imgui and .deps/catch2 from Debian's source packages. The lists, the cache and the sources file are
# private and temporary: the machine's own apt configuration is only read. A folder appears whole or not at all.
fetch_sources() {
  [ -e "$deps/imgui/imgui.h" ] && [ -e "$deps/catch2/CMakeLists.txt" ] && return 0
  local archive uri work apt
  archive=$(archive_of_lists)
  [ -n "$archive" ] || archive=$(archive_of_sources)
  uri=$(printf '%s\n' "$archive" | head -1)
  [ -n "$uri" ] || fail "No Debian archive is configured in /etc/apt: add one, or put the sources of Dear ImGui >= 1.92 into .deps/imgui and of Catch2 3 into .deps/catch2."
  say "Fetching the sources of Dear ImGui and Catch2 from $uri"
  rm -rf "$deps"/fetch.*  # what an interrupted start left
  work=$(mktemp -d "$deps/fetch.XXXXXX") || fail "The folder $deps cannot be written: make it writable, then start again."
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
  printf 'Types: deb-src\nURIs: %s\nSuites: sid trixie\nComponents: main\n%s\n' "$uri" \
    "$(printf '%s\n' "$archive" | tail -n +2)" >"$work/debian.sources"
  apt=(apt-get -q -o "Dir::Etc::SourceList=$work/debian.sources" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=$(id -un)")
  if ! (cd "$work" && "${apt[@]}" update && "${apt[@]}" source --download-only imgui/sid catch2/trixie) >"$setup_log" 2>&1; then
    # Whether an old index may be trusted is the machine's to say (Acquire::Check-Valid-Until), not ours.
    grep -qE 'is (expired|not valid yet)' "$setup_log" &&
      fail "The index of $uri does not fit this machine's date: set the clock, or use a mirror that is up to date, then start again."
    fail "The sources of imgui and catch2 could not be fetched from $uri: check the network, then start again ($setup_log has the details)."
  fi
  unpack imgui && unpack catch2
  rm -rf "$work"
  trap - EXIT
}

# unpack NAME: the upstream tarball of the source package in $work becomes .deps/NAME.
unpack() {
  local tarball
  tarball=$(find "$work" -maxdepth 1 -name "$1_*.orig.tar.*" ! -name '*.asc' | head -1)
  mkdir "$work/$1" && tar -xf "$tarball" --strip-components=1 -C "$work/$1" >>"$setup_log" 2>&1 && rm -rf "${deps:?}/$1" &&
    mv "$work/$1" "$deps/$1" || fail "The source package of $1 could not be unpacked: free some disk space, delete .deps and start again."
}

# Without Debian's tools the packages are the user's business, and CMake fetches the two sources from upstream.
check_tools() {
  local tool missing=()
  for tool in cmake ninja git pkg-config; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  command -v c++ >/dev/null || command -v g++ >/dev/null || command -v clang++ >/dev/null || missing+=("a C++20 compiler")
  [ ${#missing[@]} = 0 ] && return 0
  fail "There is no apt-get here and these are missing: ${missing[*]}; install them, and the development packages of GLFW, EGL, OpenGL, md4c, nlohmann_json, libpng, zlib, ISA-L, simdjson, SQLite and Google Benchmark, then start again."
}

set_up() {
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    install_packages
    if [ "$(. /etc/os-release && printf '%s' "${ID:-}")" = debian ]; then fetch_sources; else check_tools; fi
  else
    check_tools
  fi
}

# configure FOLDER OPTION...: runs CMake where it has not run with these options ("any": whatever options the folder has are
# good). A changed CMakeLists.txt is Ninja's to notice. A folder that was configured for a tree elsewhere starts anew.
configure() {
  local folder=$1 log=$1/configure.log
  shift
  if [ -e "$folder/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$folder/CMakeCache.txt"; then
    say "${folder#"$root"/} belongs to a tree elsewhere and is made anew."
    rm -rf "$folder"
  fi
  if [ "$1" = any ]; then
    shift
    [ -e "$folder/build.ninja" ] && return 0
  fi
  [ -e "$folder/build.ninja" ] && [ "$(cat "$folder/options" 2>/dev/null)" = "$*" ] && return 0
  say "Configuring ${folder#"$root"/}"
  mkdir -p "$folder"
  if ! cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "$@" >"$log" 2>&1; then
    grep -A6 -E '^CMake Error|fatal:' "$log" | head -20 >&2
    if grep -qE 'fatal: unable to access|Could not resolve host' "$log"; then
      fail "Upstream sources could not be fetched: check the network, then start again."
    fi
    fail "CMake could not configure ${folder#"$root"/}: install what it misses above, then start again ($log has the details)."
  fi
  printf '%s' "$*" >"$folder/options"
}

# build FOLDER TARGET...: Ninja, quiet but for how far it is; the compiler's words are shown only when it fails.
build() {
  local folder=$1 log=$1/build.log status
  shift
  NINJA_STATUS='[%f/%t] ' ninja -C "$folder" "$@" 2>&1 | tee "$log" | show_progress "${folder#"$root"/}" >&2
  status=${PIPESTATUS[0]}
  [ "$status" = 0 ] && return 0
  grep -vE '^\[[0-9]+/[0-9]+\]|^ninja: Entering' "$log" | head -60 >&2
  fail "The build of ${folder#"$root"/} failed; the compiler's message is above, all of it in $log."
}

# On a terminal one line that counts; in a log a line at every tenth.
show_progress() {
  local tty=0
  [ -t 2 ] && tty=1
  awk -v name="$1" -v tty="$tty" '
    match($0, /^\[[0-9]+\/[0-9]+\]/) {
      split(substr($0, 2, RLENGTH - 2), n, "/")
      if (/Re-checking globbed|Re-running CMake/) next
      tenth = int(10 * n[1] / n[2])
      if (tty) { printf "\rBuilding %s: %d of %d\033[K", name, n[1], n[2]; shown = 1; fflush() }
      else if (tenth != last || !shown) { printf "Building %s: %d of %d\n", name, n[1], n[2]; last = tenth; shown = 1; fflush() }
    }
    END { if (tty && shown) printf "\r\033[K" }'
}
