# What each chapter costs: awk -f costs.awk LABS NINJA_LOG ENTRIES, where LABS has "CHAPTER NUMBER_OF_LABS" lines and ENTRIES is
# the output of count.awk. Build seconds are those in which Ninja had one of the chapter's objects compiled, its tests' included;
# an object that the compiler's cache had costs next to nothing.
FILENAME == ARGV[1] { order[++n] = $1; labs[$1] = $2; next }
FILENAME == ARGV[2] { if ($4 ~ /\.o$/) took[$4] = ($2 - $1) / 1000; next }
$1 == "entry" {
  cpu = $2; sub(/^entry [0-9.]+ /, "")
  if (sub(/^chapters\//, "")) { sub(/,.*/, ""); tests[$0] += cpu } else others += cpu
}
END {
  for (object in took)
    for (i = 1; i <= n; ++i)
      if (object ~ ("(chapters(_sanitized)?\\.dir/|tests_chapters\\.dir/chapters/|unity_)(.*_)?" order[i] "[/_]")) { build[order[i]] += took[object]; break }
  printf "%-12s %5s %9s %9s %9s   (CPU seconds, plain and sanitized)\n", "chapter", "labs", "build", "tests", "a lab"
  for (i = 1; i <= n; ++i) {
    c = order[i]
    printf "%-12s %5d %9.1f %9.1f %9.1f\n", c, labs[c], build[c], tests[c], (build[c] + tests[c]) / labs[c]
  }
  printf "%-12s %5s %9s %9.1f\n", "all others", "", "", others
}
