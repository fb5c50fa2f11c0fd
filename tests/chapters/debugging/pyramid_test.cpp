#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "chapters/debugging/pyramid/lab.h"
#include "tests/support/base/near.h"
#include "tests/support/lab/answers.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace pyramid = chapters::debugging::pyramid;

namespace {

LabPtr pyramid_lab(std::string_view inputs = "{}") { return open_lab("debugging/pyramid", inputs); }

}  // namespace

TEST_CASE("pyramid: the contract's keys give the sketch's figures, and the best order as a list") {
  const LabPtr lab = pyramid_lab();
  const auto outputs = outputs_of(*lab);
  CHECK(near(outputs.at("mean_minutes").get<double>(), 18.06, 1e-9));
  CHECK(near(outputs.at("best_minutes").get<double>(), 18.06, 1e-9));
  CHECK(near(outputs.at("cheapest_minutes").get<double>(), 27.08, 1e-9));
  REQUIRE(outputs.at("best_order").is_array());
  CHECK(outputs.at("best_order").size() == 8);
  CHECK(outputs.at("best_order").at(0) == "profile");
  CHECK(near(out(*lab, "pays_up_to"), 21.72, 1e-6));
  CHECK(near(out(*lab, "best_first_rate"), 70 / 15.0, 1e-9));
  CHECK(lab->answer().find("`18.1 min`") != std::string::npos);
  CHECK(lab->answer().find("`27.1 min`") != std::string::npos);
}

TEST_CASE("pyramid: an order that is not whole is filled from the cheap end, and what the case lacks is named") {
  const LabPtr lab = pyramid_lab(R"({"order": ["dcgm", "profile", "stacks"]})");
  compute(*lab);
  CHECK(text_of(*lab, "not_in_case") == "dcgm, stacks");
  CHECK(near(out(*lab, "mean_minutes"), 18.06, 1e-9));
  const LabPtr none = pyramid_lab(R"({"order": []})");
  CHECK(near(computed(*none, "mean_minutes"), 27.08, 1e-9));
}

TEST_CASE("pyramid: each case is feasible, no rule beats the best, and a longer profile goes back in the order") {
  for (const char* id : {"merge", "reboot", "yesterday", "hours", "spike", "timeout", "idle", "differ", "stopped",
                         "node", "somewhere", "dealt"}) {
    const LabPtr lab = pyramid_lab();
    compute(set(*lab, "case", id));
    INFO(id);
    for (const char* rule : {"cheapest_minutes", "likeliest_minutes", "rate_minutes", "pyramid_minutes"})
      CHECK(out(*lab, rule) >= out(*lab, "best_minutes") - 1e-9);
    CHECK(out(*lab, "mean_minutes") >= out(*lab, "best_minutes") - 1e-9);
  }
  const LabPtr lab = pyramid_lab(R"({"dear_minutes": 22})");
  compute(*lab);
  CHECK(text_of(*lab, "best_first") != "profile");
}

TEST_CASE("pyramid: a dealt case tells nothing of its cause before it is found") {
  const LabPtr lab = pyramid_lab(R"({"case": "dealt", "order": [], "seed": 7})");
  const auto outputs = outputs_of(*lab);
  // Two seeds that differ in nothing but luck would have the same outputs: no output depends on the draws.
  pyramid::Inputs in{.which = "dealt", .seed = 7, .order = {}};
  const auto computed = computed_of(in, pyramid::compute);
  const auto& run = *computed.run;
  REQUIRE(run.dealt);
  CHECK(run.verdicts.size() == run.search.checks.size());
  CHECK(!outputs.contains("cause"));
  for (const auto& [key, value] : outputs.items()) CHECK(key.find("dealt") == std::string::npos);
  CHECK(lab->answer().find(std::string(run.search.causes[run.cause].name)) == std::string::npos);
  // What is left before any check are the likelihoods.
  for (std::size_t i = 0; i < run.search.causes.size(); ++i)
    CHECK(near(static_cast<double>(run.left[0][i]), run.search.causes[i].likelihood, 1e-6));
}

TEST_CASE("pyramid: a check is dragged to its place, moved by arrows, and the order follows") {
  const LabPtr lab = pyramid_lab(R"({"order": []})");
  lab->compute();
  Canvas canvas(*lab, {1280, 720});
  canvas.ui.frames(2);
  canvas.ui.drag_by("check", {600, 0});  // the first check of this name is nvidia-smi
  REQUIRE(input(*lab, "order").chosen().size() == 8);
  CHECK(input(*lab, "order").chosen().front() != "smi");
}

TEST_CASE("pyramid: moves put a check before another one or at the end") {
  pyramid::Inputs in;
  const std::vector<pyramid::Chip> now{{.id = "a"}, {.id = "b"}, {.id = "c"}};
  pyramid::move_check(in, now, "c", 0);
  CHECK(in.order == std::vector<std::string>{"c", "a", "b"});
  pyramid::move_check(in, now, "a", 3);
  CHECK(in.order == std::vector<std::string>{"b", "c", "a"});
  pyramid::move_check(in, now, "b", 9);
  CHECK(in.order == std::vector<std::string>{"a", "c", "b"});
  pyramid::move_check(in, now, "b", 1);
  CHECK(in.order == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("pyramid: checks of a dealt case are pressed one after the other without changing the inputs") {
  const LabPtr lab = pyramid_lab(R"({"case": "dealt", "order": [], "seed": 12})");
  lab->compute();
  Canvas canvas(*lab, {1280, 720});
  canvas.ui.frames(2);
  canvas.ui.click("Find it");
  canvas.ui.frames(2);
  const auto before = outputs_of(*lab);
  for (int i = 0; i < 4; ++i) {
    canvas.ui.click("run");
    canvas.ui.frames(2);
  }
  CHECK(outputs_of(*lab) == before);
}

TEST_CASE("pyramid: a dealt case is played until it is found, and paid for") {
  const LabPtr lab = pyramid_lab(R"({"case": "dealt", "order": [], "seed": 7})");
  lab->compute();
  pyramid::Inputs in{.which = "dealt", .seed = 7, .order = {}};
  const auto picture = picture_of(in, pyramid::compute, pyramid::arrange);
  CHECK(picture.dealt);
  CHECK(picture.deal_names.size() == picture.run->search.checks.size());
  // The best order's price for this cause is the sum of its checks up to the one that finds it.
  double minutes = 0;
  bool found = false;
  for (const auto k : picture.run->best_order) {
    if (found) break;
    minutes += picture.run->search.checks[k].minutes;
    found = picture.run->verdicts[k] == pyramid::Verdict::found;
  }
  if (found) CHECK(near(picture.run->best_would_take, minutes, 1e-9));
}

TEST_CASE("pyramid: with ten checks no order is called the best, and every check on the clock has words") {
  const LabPtr lab = pyramid_lab(R"({"case": "timeout", "order": ["stacks"], "against": "best"})");
  CHECK(computed(*lab, "exact") == 0);
  CHECK(lab->answer().find("as in the best order found.") != std::string::npos);
  CHECK(lab->answer().find("The best order found takes") != std::string::npos);
  pyramid::Inputs in{.which = "timeout", .order = {"stacks"}};
  const auto picture = picture_of(in, pyramid::compute, pyramid::arrange);
  CHECK(picture.ghost_words.find("the best order found") != std::string::npos);
  for (const pyramid::Chip& chip : picture.yours.chips) CHECK(!chip.minutes.empty());
}

TEST_CASE("pyramid: a check that points convicts nobody, is dashed and says whom it leaves") {
  const char* const order = R"({"case": "somewhere", "order": ["rank_times"]})";
  const LabPtr lab = pyramid_lab(order);
  compute(*lab);
  CHECK(out(*lab, "first_convicts") == 0);
  CHECK(near(out(*lab, "first_points_at"), 100 * (0.22 * 0.95 + 0.2 * 0.9), 1e-9));
  CHECK(text_of(*lab, "best_first") == "time per rank");
  CHECK(near(out(*lab, "best_first_points_at"), out(*lab, "first_points_at"), 1e-12));
  const auto picture =
      picture_of(pyramid::Inputs{.which = "somewhere", .order = {"rank_times"}}, pyramid::compute, pyramid::arrange);
  const pyramid::Chip& chip = picture.yours.chips.front();
  CHECK(chip.points);
  CHECK(chip.tip.find("another job on the node or NUMA, no pinning") != std::string::npos);
  CHECK(!picture.points_words.empty());
}

TEST_CASE("pyramid: a dealt case with a check that points is found in the group, or where one cause is left of it") {
  int pointed = 0;
  for (std::int64_t seed = 1; seed <= 200 && pointed < 3; ++seed) {
    const auto computed = computed_of(pyramid::Inputs{.which = "dealt", .seed = seed, .order = {}}, pyramid::compute);
    const pyramid::Run& run = *computed.run;
    for (std::size_t k = 0; k < run.verdicts.size(); ++k) {
      if (run.verdicts[k] != pyramid::Verdict::points) continue;
      ++pointed;
      const std::size_t set = std::size_t{1} << k;
      CHECK(run.left[set][run.cause] > 0);
      for (std::size_t i = 0; i < run.search.causes.size(); ++i)
        CHECK((run.left[set][i] > 0) == (run.search.checks[k].sees[i] > 0));
      CHECK(run.named[set] == 0);
    }
  }
  CHECK(pointed >= 3);
}
