# What each chapter costs in CPU seconds: awk -v floor=S -v most=S -v reference=S -f costs.awk LABS TIMES ENTRIES, where LABS has
# "CHAPTER NUMBER_OF_LABS" lines, TIMES "OBJECT SECONDS" lines of what each object took when it was compiled last, and ENTRIES is the
# output of count.awk. The last line is "verdict" and "ok", "not judged" or "too dear", and why.
#
# A lab may cost `most` seconds of a machine that compiles Dear ImGui's widgets in `reference` seconds. What another machine takes is
# converted by what those took there, in the same build; where they came out of the compiler's cache, nothing is judged.
FILENAME == ARGV[1] { order[++n] = $1; labs[$1] = $2; next }
FILENAME == ARGV[2] { took[$1] = $2; all += $2; if ($1 ~ /imgui\.dir\/.*imgui_widgets\.cpp\.o$/) yardstick = $2; next }
$1 == "entry" {
  cpu = $2; sub(/^entry [0-9.]+ /, "")
  ran += cpu
  if (sub(/^chapters\//, "")) { sub(/,.*/, ""); tests[$0] += cpu } else others += cpu
}
END {
  for (object in took) {
    for (i = 1; i <= n; ++i)
      if (object ~ ("(chapters(_sanitized)?\\.dir/|tests_chapters\\.dir/chapters/|unity_|units/(tests_)?chapters_)(.*_)?" order[i] "[/_]")) { build[order[i]] += took[object]; break }
    if (i > n) rooms += took[object]
  }
  printf "%-12s %5s %9s %9s %9s   (CPU seconds, plain and sanitized)\n", "chapter", "labs", "build", "tests", "a lab"
  for (i = 1; i <= n; ++i) {
    c = order[i]
    printf "%-12s %5d %9.1f %9.1f %9.1f\n", c, labs[c], build[c], tests[c], (build[c] + tests[c]) / labs[c]
    if ((build[c] + tests[c]) / labs[c] > worst) { worst = (build[c] + tests[c]) / labs[c]; dearest = c }
  }
  printf "%-12s %5s %9.1f %9.1f\n", "all others", "", rooms, others
  printf "%-12s %5s %9.1f %9.1f   %.0f in all\n", "together", "", all, ran, all + ran
  # A compiler that had nothing to do takes no time; one that is twice as fast as any of today still takes a quarter.
  if (yardstick < reference / 4) print "verdict not judged: the objects came out of the compiler's cache"
  else if (worst * reference / yardstick > most)
    printf "verdict too dear: a lab of %s costs %.0f CPU seconds, as the reference machine counts them, and may cost %d\n", dearest, worst * reference / yardstick, most
  else printf "verdict ok: the dearest labs, those of %s, cost %.0f CPU seconds each, as the reference machine counts them, of %d\n", dearest, worst * reference / yardstick, most
}
