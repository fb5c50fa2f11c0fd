// A log of nccl-tests: whatever is accepted has sizes that rise, times above 0, ranks, and can be fitted.
#include "models/parallel/collectives/collective_log.h"

#include "models/parallel/collectives/collective_fit.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::parallel;
  const auto text = fuzz::text_of(data, size);
  const auto read = parse_collective_log(text);
  const auto again = parse_collective_log(lines_of_collective_log(text));
  fuzz::require(read.error == again.error, "another verdict on the lines that are looked at");
  if (!fuzz::accepted(read)) return 0;
  fuzz::require(read->curve.samples.size() == again->curve.samples.size() && read->curve.ranks == again->curve.ranks,
                "another run in the lines that are looked at");
  const CollectiveCurve& curve = read->curve;
  fuzz::require(!curve.samples.empty() && curve.samples.size() <= max_collective_sizes, "no size, or too many");
  fuzz::require(curve.ranks >= 2 && curve.ranks <= 10'000'001, "ranks out of their range");
  double last = 0;
  for (const CollectiveSample& s : curve.samples) {
    fuzz::require(s.bytes > last && s.seconds > 0, "sizes that do not rise, or a time that is not above 0");
    last = s.bytes;
  }
  for (const std::string& note : read->notes) fuzz::require(note.ends_with('.'), "a note that is no sentence");
  for (std::size_t pieces = 1; pieces <= 3; ++pieces)
    if (const auto fit = fit_collective(curve, pieces))
      fuzz::require(fit->pieces.size() == pieces && fit->pieces[0].line.alpha_s >= 0, "a fit that is none");
  return 0;
}
