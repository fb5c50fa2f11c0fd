// A file of arrivals: whatever is accepted is sorted, counts from 0 and holds lengths that a simulation takes.
#include "models/serving/arrivals/arrival_stats.h"
#include "tests/fuzz/fuzz.h"

namespace {

/// The reader that leaves bad rows out: sorted, from 0 on, and its figures are those of as many requests.
void require_arrivals(std::string_view text) {
  const auto file = models::read_arrivals(text, 1000);
  if (!file) return;
  std::int64_t last_us = 0;
  for (const models::RequestArrival& a : file->arrivals) {
    fuzz::require(a.at_us >= last_us, "a request out of order");
    last_us = a.at_us;
  }
  const auto figures = models::arrival_figures(file->arrivals, models::window_of_arrivals(file->arrivals));
  fuzz::require(figures.count == static_cast<std::int64_t>(file->arrivals.size()), "a request outside of its window");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  require_arrivals(fuzz::text_of(data, size));
  const auto read = models::parse_requests(fuzz::text_of(data, size), 1000);
  if (!fuzz::accepted(read)) return 0;
  const auto* requests = &read->requests;
  fuzz::require(!requests->empty() && requests->size() <= 1000 && requests->front().arrival_s == 0,
                "arrivals that do not begin at 0");
  double last_s = 0;
  for (const models::ServingRequest& r : *requests) {
    fuzz::require(r.arrival_s >= last_s && r.arrival_s <= 1e10, "an arrival out of order");
    fuzz::require(
        r.prompt_tokens >= 1 && r.prompt_tokens <= 1'000'000 && r.output_tokens >= 1 && r.output_tokens <= 1'000'000,
        "a length out of its range");
    last_s = r.arrival_s;
  }
  return 0;
}
