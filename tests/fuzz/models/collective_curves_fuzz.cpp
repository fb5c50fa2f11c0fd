// A file of published collectives: whatever is accepted has an id, ranks and sizes that rise.
#include "models/parallel/collectives/collective_published.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::parallel;
  const auto read = parse_published_collectives(fuzz::text_of(data, size), "a file");
  if (!fuzz::accepted(read)) return 0;
  for (const PublishedCollective& run : *read) {
    fuzz::require(!run.id.empty() && !run.curve.samples.empty(), "a run without an id or sizes");
    fuzz::require(run.curve.ranks >= 2 && run.site.ranks_per_node >= 1, "a run without ranks");
    double last = 0;
    for (const CollectiveSample& s : run.curve.samples) {
      fuzz::require(s.bytes > last && s.seconds > 0, "sizes that do not rise");
      last = s.bytes;
    }
  }
  return 0;
}
