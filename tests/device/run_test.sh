#!/bin/bash
# tests/device/run.sh with a stand-in for the program and for compute-sanitizer.
set -u
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
export PATH="$work/bin:$PATH"

# The stand-in: says what a program would, and writes figures; FAULT names the step that is to fail.
cat >"$work/program" <<'P'
#!/bin/bash
case "$2" in
  check)
    if [ "${FAULT:-}" = nothing ]; then
      echo "0 right, 0 wrong, 3 not run here"
      exit 0
    fi
    printf 'rung\n  cuda-copy/scalar  right\n  cuda-copy/float4  right\n  cuda-host-copy/pinned  right\n3 right, 0 wrong, 0 not run here\n'
    [ "${FAULT:-}" != wrong ]
    ;;
  measure)
    [ "${FAULT:-}" = measure ] && exit 1
    while [ $# -gt 0 ]; do
      [ "$1" = -o ] && echo '{}' >"$2"
      shift
    done
    ;;
esac
P
cat >"$work/bin/compute-sanitizer" <<'P'
#!/bin/bash
echo "$2 ${*: -1}" >>"$SANITIZED"
[ "${FAULT:-}" = "$2" ] && echo "========= a race" && exit 9
exit 0
P
chmod +x "$work/program" "$work/bin/compute-sanitizer"
export SANITIZED="$work/sanitized"

failed=0
# expect FAULT STATUS WORDS: the script ends with the status and says the words.
expect() {
  : >"$SANITIZED"
  rm -rf "$work/out" && mkdir "$work/out"
  local said status
  said=$(FAULT=$1 "$here/run.sh" "$work/program" "$work/out" figures 2>&1)
  status=$?
  if [ "$status" != "$2" ] || ! grep -q "$3" <<<"$said"; then
    printf 'With the fault "%s": status %s, not %s, or not "%s":\n%s\n' "$1" "$status" "$2" "$3" "$said"
    failed=1
  fi
}

expect "" 0 "0 faults; figures in .*figures.json"
[ -s "$work/out/figures.json" ] || failed=1
# Each ladder once under each tool; copies alone launch nothing that races.
[ "$(sort "$SANITIZED" | tr '\n' ';')" = "memcheck cuda-copy;memcheck cuda-host-copy;racecheck cuda-copy;synccheck cuda-copy;" ] || {
  echo "What was sanitized:" && cat "$SANITIZED"
  failed=1
}
expect wrong 1 "FAULT: kernels check"
expect racecheck 1 "FAULT: racecheck cuda-copy: status 9"
expect measure 1 "FAULT: kernels measure"
expect nothing 1 "no rung could run here"
exit $failed
