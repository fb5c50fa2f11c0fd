# Reads ctest's LastTest.log. Prints "count PASSED FAILED SKIPPED", test cases where a program counts them (Catch2, the corpora)
# and programs where not, then for each entry "entry CPU_SECONDS NAME".
function finish() {
  if (name == "") return
  if (!summary) { if (bad) f = 1; else if (skipped_entry) s = 1; else p = 1 }
  else if (bad && f == 0) f = 1  # a leak or a crash after the summary, or the time limit
  passed += p; failed += f; skipped += s
  printf "entry %.2f %s\n", cpu, name
  name = ""
}
# The number that stands before exactly these words between two bars of Catch2's line "test cases: 7 | 4 passed | 2 failed".
function part(words,   n, i, parts) {
  n = split($0, parts, "|")
  for (i = 2; i <= n; ++i) if (parts[i] ~ ("^ *[0-9]+ " words " *$")) return parts[i] + 0
  return 0
}
/^[0-9]+\/[0-9]+ Testing: / { finish(); name = $0; sub(/^[^:]*: /, "", name); p = f = s = summary = bad = skipped_entry = cpu = 0; next }
/^All tests passed \(.* test cases?\)/ { sub(/.* in /, ""); p += $1; summary = 1; next }
/^test cases: .*\|/ { p += part("passed") + part("failed as expected"); f += part("failed"); s += part("skipped"); summary = 1; next }
/^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3; summary = 1; next }
/^CPU seconds: / { cpu = $3; next }
/^Test time = / { if (!cpu) cpu = $4; next }
/^Test (Failed|timeout)/ || /^Test time.*Timeout/ { bad = 1 }
/^Test Skipped/ || /^Skipped/ { skipped_entry = 1 }
END { finish(); print "count", passed + 0, failed + 0, skipped + 0 }
