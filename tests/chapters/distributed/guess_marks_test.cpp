#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"
#include "widgets/base/guess.h"

using namespace support;

namespace {

struct GuessCase {
  const char* lab;
  const char* inputs;
  const char* output;
  const char* unit;
  double value = 0;
  const char* words;
};

/// Where a hero says the guess: x and y of each text that is these words.
std::vector<ImVec2> places_of_guess(const GuessCase& c, const widgets::ShownGuess& guess) {
  const LabPtr lab = open_lab(c.lab, c.inputs);
  compute(*lab);
  Canvas canvas(*lab, {900, 640});
  const widgets::ShowGuess shown(&guess);
  canvas.ui.frames(3);
  std::vector<ImVec2> out;
  for (const widgets::Stroke& s : canvas.ui.record().strokes)
    if (s.kind == widgets::Stroke::Kind::text && s.text == c.words) out.push_back(s.points[0]);
  return out;
}

}  // namespace

TEST_CASE("distributed: what the learner said stands in the hero of each lab at the reveal") {
  use_bundled_catalog();
  constexpr const char* one_call = R"({"boxes": 1, "tensor": 8, "data": 1, "traffic": "one_call"})";
  constexpr const char* small_moe = R"({"steps": 20, "step_tokens": 64, "experts": 8})";
  const GuessCase cases[] = {
      {"distributed/pipeline", "{}", "makespan", "s", 0.030, "you: 30 ms"},
      {"distributed/pipeline", "{}", "wall_bubble", "s", 0.006, "you: 6 ms"},
      {"distributed/pipeline", "{}", "peak", "", 2, "you: 2"},
      {"distributed/overlap", "{}", "tail_s", "s", 0.0006, "you: 600 \xC2\xB5s"},
      {"distributed/overlap", "{}", "step_s", "s", 0.150, "you: 150 ms"},
      {"distributed/overlap", "{}", "step_s", "s", 10, "you: 10 s, off this scale"},
      {"distributed/moe", small_moe, "slowdown", "\xC3\x97", 1, "you: 1\xC3\x97"},
      {"distributed/topology", "{}", "over_best", "\xC3\x97", 3, "you: 3\xC3\x97"},
      {"distributed/topology", one_call, "bus_bytes_per_s", "B/s", 96e9, "you: 96 GB/s"},
      {"distributed/tensor-parallel", "{}", "exposed_share", "%", 47, "you: 47 %"},
      {"distributed/context", "{}", "speedup", "\xC3\x97", 2, "you: 2\xC3\x97"},
      {"distributed/collectives", "{}", "bytes_sent_per_rank", "B", 64e6, "you: 64 MB"},
  };
  for (const GuessCase& c : cases) {
    INFO(c.lab << " " << c.output << " " << c.value);
    const widgets::ShownGuess guess{.output = c.output, .label = "", .unit = c.unit, .value = c.value};
    CHECK(places_of_guess(c, guess).size() == 1);
  }
}

TEST_CASE("distributed: a longer guess of a step stands further right on its clock") {
  use_bundled_catalog();
  const auto x_of = [](double value, const char* words) {
    const widgets::ShownGuess guess{.output = "makespan", .label = "", .unit = "s", .value = value};
    const auto places = places_of_guess({"distributed/pipeline", "{}", "makespan", "s", value, words}, guess);
    REQUIRE(places.size() == 1);
    return places[0].x;
  };
  CHECK(x_of(0.010, "you: 10 ms") < x_of(0.020, "you: 20 ms"));
}
