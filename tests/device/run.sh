#!/bin/bash
# What a machine with an NVIDIA GPU, its driver and a CUDA toolkit checks and measures, in one call:
#   tests/device/run.sh PROGRAM OUT [NAME]
# PROGRAM is a built ridgeline with its assets beside it or named by RIDGELINE_ASSETS; OUT is a folder that exists; the figures are written
# to OUT/NAME.json (NAME: measured unless told), in the form of assets/measured.
#
#   1  correctness of every rung against float64, at a small size that is no power of two
#   2  the same under compute-sanitizer: memcheck, racecheck, synccheck (where it is installed)
#   3  ceilings, then every rung at its usual size, checked before and after
#
# SECONDS_PER_RUNG (0.2) and SANITIZER_LIMIT (120 s a tool and ladder) size it. The exit status is 0 when nothing is wrong.
set -u
program=${1:?the built program}
out=${2:?a folder for the figures}
name=${3:-measured}
seconds=${SECONDS_PER_RUNG:-0.2}
limit=${SANITIZER_LIMIT:-120}
faults=0

say() { printf '== %s\n' "$*"; }
fault() {
  printf 'FAULT: %s\n' "$*"
  faults=$((faults + 1))
}

driver=unknown
command -v nvidia-smi >/dev/null && driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -1)

say "correctness"
"$program" kernels check | tee "$out/check.txt"
[ "${PIPESTATUS[0]}" = 0 ] || fault "kernels check: see $out/check.txt"
if grep -q '^0 right' "$out/check.txt"; then
  fault "no rung could run here"
  exit 1
fi

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null)
if [ -z "$sanitizer" ]; then
  say "compute-sanitizer is not installed: left out"
else
  # The ladders are the words before the slash in the first column.
  ladders=$(grep -oE '^ *cuda-[a-z0-9-]+/' "$out/check.txt" | tr -d ' /' | awk '!seen[$0]++')
  for tool in memcheck racecheck synccheck; do
    for ladder in $ladders; do
      # A ladder that only copies launches nothing to look at, and memcheck alone sees what it does.
      [ "$ladder" = cuda-host-copy ] && [ "$tool" != memcheck ] && continue
      timeout "$limit" "$sanitizer" --tool "$tool" --error-exitcode 9 "$program" kernels check "$ladder" >"$out/$tool-$ladder.txt" 2>&1
      status=$?
      case $status in
        0) say "$tool $ladder: clean" && rm -f "$out/$tool-$ladder.txt" ;;
        124) say "$tool $ladder: not finished in $limit s" ;;
        *) fault "$tool $ladder: status $status, see $out/$tool-$ladder.txt" && grep -m 8 '=========' "$out/$tool-$ladder.txt" ;;
      esac
    done
  done
fi

say "times"
"$program" kernels measure --seconds "$seconds" --note "driver $driver; $(nproc) cores" -o "$out/$name.json" | tee "$out/times.txt"
[ "${PIPESTATUS[0]}" = 0 ] || fault "kernels measure: see $out/times.txt"
[ -s "$out/$name.json" ] || fault "no figures were written"

say "$faults faults; figures in $out/$name.json"
[ "$faults" = 0 ]
