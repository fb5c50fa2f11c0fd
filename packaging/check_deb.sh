#!/bin/bash
# check_deb.sh [BUILD_FOLDER]: makes the Debian package of a build (build/ by default), unpacks it into a temporary folder and runs
# the program from there. What the program shows must come from the unpacked assets and not from the source tree: a chip that only
# the unpacked copy has must be known. The last line is "OK" or the sentence that says what is wrong.
set -u
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
build=$(realpath "${1:-$root/build}")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() {
  echo "$*" >&2
  exit 1
}

ninja -C "$build" ridgeline >"$work/build.log" 2>&1 || { cat "$work/build.log" >&2; fail "The program does not build."; }
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/packages") >"$work/cpack.log" 2>&1 ||
  { cat "$work/cpack.log" >&2; fail "cpack made no package."; }
package=$(echo "$work"/packages/ridgeline_*.deb)
[ -f "$package" ] || fail "cpack made no package named ridgeline_*.deb."
dpkg-deb --info "$package" | sed -n 's/^ \(Package\|Version\|Architecture\|Installed-Size\|Depends\):/\1:/p'
dpkg-deb -x "$package" "$work/root" || fail "The package does not unpack."

for file in bin/ridgeline share/ridgeline/assets/glossary.json share/applications/ridgeline.desktop share/doc/ridgeline/copyright \
  share/man/man1/ridgeline.1.gz share/bash-completion/completions/ridgeline share/metainfo/io.ridgeline.Ridgeline.metainfo.xml \
  share/doc/ridgeline/changelog.gz share/icons/hicolor/scalable/apps/ridgeline.svg share/icons/hicolor/{48x48,128x128,256x256}/apps/ridgeline.png; do
  [ -s "$work/root/usr/$file" ] || fail "The package has no usr/$file."
done
grep -q '^MimeType=x-scheme-handler/ridgeline;$' "$work/root/usr/share/applications/ridgeline.desktop" &&
  grep -q '^Exec=ridgeline %u$' "$work/root/usr/share/applications/ridgeline.desktop" || fail "The desktop entry opens no links."
if command -v desktop-file-validate >/dev/null; then
  desktop-file-validate "$work/root/usr/share/applications/ridgeline.desktop" || fail "The desktop entry is not valid."
fi
if command -v appstreamcli >/dev/null; then
  appstreamcli validate --no-net "$work/root/usr/share/metainfo/io.ridgeline.Ridgeline.metainfo.xml" >"$work/metainfo.log" 2>&1 ||
    { cat "$work/metainfo.log" >&2; fail "The AppStream metainfo is not valid."; }
fi
if command -v man >/dev/null; then
  warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$work/root/usr/share/man/man1/ridgeline.1.gz" 2>&1 >/dev/null)
  [ -z "$warnings" ] || fail "The manual page does not read well: $(head -1 <<<"$warnings")"
fi
if command -v lintian >/dev/null; then
  # Whether there is a maintainer's address that takes mail is for whoever publishes a package: cmake -DRIDGELINE_CONTACT=...
  errors=$(lintian --allow-root --no-cfg --fail-on none "$package" 2>/dev/null | grep '^E:' | grep -v 'bogus-mail-host')
  [ -z "$errors" ] || { echo "$errors" >&2; fail "lintian finds errors in the package."; }
fi

# Nothing of the caller's: a home of its own, and neither assets nor fonts chosen by variables.
mkdir "$work/home" "$work/pictures"
ridgeline() {
  (cd "$work" && env -i HOME="$work/home" PATH="$PATH" "$work/root/usr/bin/ridgeline" "$@") 2>"$work/error"
}
assets=$work/root/usr/share/ridgeline/assets
cat >"$assets/hardware/unpacked.json" <<'JSON'
{"chips": [{"id": "unpacked_chip", "name": "Unpacked chip", "vendor": "Package", "architecture": "none", "confidence": "low", "year_available": 2025,
  "peak_flops_per_s": {"bf16": 400e12}, "memory_bytes": 64e9, "memory_bandwidth_bytes_per_s": 2e12}]}
JSON
labs=$(ridgeline list) || fail "ridgeline list fails: $(head -1 "$work/error")"
grep -q 'roofline/roofline' <<<"$labs" || fail "ridgeline list does not name roofline/roofline."
ridgeline eval roofline/roofline --set chip=unpacked_chip >/dev/null ||
  fail "The program does not read the unpacked assets: $(head -1 "$work/error")"
ridgeline render roofline/roofline -o "$work/pictures/roofline.png" >/dev/null || fail "ridgeline render fails: $(head -1 "$work/error")"
[ "$(head -c 4 "$work/pictures/roofline.png" | tail -c 3)" = PNG ] || fail "ridgeline render wrote no PNG."
ridgeline check >/dev/null || fail "ridgeline check fails: $(head -1 "$work/error")"
if [ -n "${KEEP:-}" ]; then cp "$package" "$KEEP" && echo "Kept: $KEEP/$(basename "$package")"; fi
echo OK
