#include "chapters/distributed/moe/lab.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>

#include "tests/support/base/near.h"
#include "tests/support/lab/canvas.h"
#include "tests/support/lab/catalog.h"
#include "tests/support/lab/lab_bench.h"

using namespace support;
namespace lab_moe = chapters::distributed::moe;

namespace {

lab_moe::Trainings moe_trainings;

lab_moe::Computed moe_of(const lab_moe::Inputs& in) {
  use_bundled_catalog();
  chapters::Progress progress;
  lab_moe::Computed done = lab_moe::compute(in, progress, moe_trainings);
  INFO(done.facts.reason);
  REQUIRE(done.run);
  return done;
}
lab_moe::Outputs moe_outputs_of(const lab_moe::Inputs& in) { return moe_of(in).facts; }

}  // namespace

TEST_CASE("moe: drill 7 of S1 with 450 GB/s in a direction: 0.94 GB an exchange, 267 ms a step") {
  const LabPtr lab = open_lab("distributed/moe",
                              R"({"rule": "dealt", "experts": 8, "capacity_factor": 0, "hidden": 8192, "batch": 4,
                                  "sequence": 8192, "layers": 32, "inside_share": 100, "base_s": 0})");
  compute(*lab);
  CHECK(near(out(*lab, "even_dispatch_bytes"), 32768.0 * 2 * 8192 * 2 * 7 / 8));
  CHECK(near(out(*lab, "even_step_exchange_s"), 4 * 32 * 32768.0 * 2 * 16384 * 7 / 8 / 450e9));
  CHECK(near(out(*lab, "step_exchange_s"), out(*lab, "even_step_exchange_s"), 1e-9));
  CHECK(out(*lab, "load_max") == 1);
  CHECK(near(out(*lab, "rank_rows"), 65536));
}

TEST_CASE("moe: dealt tokens visit no more nodes than they may") {
  lab_moe::Inputs in;
  in.rule = models::parallel::MoeRule::dealt;
  in.experts = 64;
  in.top_k = 8;
  in.capacity_factor = 0;
  in.ranks = 32;
  in.steps = 20;
  in.step_tokens = 64;
  in.exchange = models::parallel::MoeExchange::once_per_node;
  const lab_moe::Outputs any = moe_outputs_of(in);
  in.node_limit = 2;
  const lab_moe::Outputs two = moe_outputs_of(in);
  CHECK(any.even_nodes > 3.5);
  // Of eight choices among the experts of two nodes a few all fall on one.
  CHECK(two.even_nodes <= 2);
  CHECK(two.even_nodes > 1.95);
  CHECK(two.load_max < 1.3);
  CHECK(two.exchange_s < 0.7 * any.exchange_s);
}

TEST_CASE("moe: what is dropped costs accuracy, what is kept costs time, and the figures agree with each other") {
  lab_moe::Inputs in;
  const lab_moe::Outputs rim = moe_outputs_of(in);
  in.capacity_factor = 0;
  const lab_moe::Outputs open = moe_outputs_of(in);
  CHECK(rim.dropped > 10);
  CHECK(open.dropped == 0);
  CHECK(open.layer.layer_s > 1.5 * rim.layer.layer_s);
  CHECK(open.loss < rim.loss);
  CHECK(near(rim.kept_copies, 2 * (1 - rim.dropped / 100)));
  double rows = 0;
  for (const lab_moe::RankRow& r : rim.ranks) rows += r.rows;
  CHECK(near(rows, 8 * rim.rank_rows));
  CHECK(near(rim.rank_max, std::max_element(
                               rim.ranks.begin(), rim.ranks.end(),
                               [](const auto& a, const auto& b) {
                                 return a.rows < b.rows;
                               })->rows /
                               rim.rank_rows));
  double dropped = 0;
  for (const lab_moe::ExpertRow& r : rim.experts) dropped += r.dropped;
  CHECK(near(dropped, rim.dropped / 100 * 4096));
}

TEST_CASE("moe: the balancings that are compared are those that are computed when they are chosen") {
  lab_moe::Inputs in;
  const lab_moe::Outputs plain = moe_outputs_of(in);
  REQUIRE(plain.balances.size() == 3);
  CHECK(plain.balances[0].mine);
  for (std::size_t b = 0; b < 3; ++b) {
    in.balance = static_cast<models::parallel::MoeBalance>(b);
    const lab_moe::Outputs chosen = moe_outputs_of(in);
    CHECK(chosen.loss == plain.balances[b].loss);
    CHECK(chosen.load_max == plain.balances[b].max_over_mean);
    CHECK(chosen.layer.layer_s == plain.balances[b].layer_s);
    CHECK(chosen.alphas.size() == (b == 1 ? 4u : 0u));
  }
  in.balance = models::parallel::MoeBalance::auxiliary;
  const lab_moe::Outputs path = moe_outputs_of(in);
  CHECK(near(path.alphas[1].loss, path.loss));       // 0.1 is what is set
  CHECK(path.alphas[3].loss > path.alphas[1].loss);  // 10 costs accuracy
}

TEST_CASE("moe: the picture has a grain for each copy and a bucket for each slot, and its clock ends with the layer") {
  lab_moe::Inputs in;
  in.placement = models::parallel::MoePlacementRule::replicated;
  const auto [o, run] = moe_of(in);
  const lab_moe::Picture p = lab_moe::arrange(in, o, *run);
  CHECK(p.rain.buckets.size() == 24);
  CHECK(p.grains.size() == run->mine->routed.copies.size());
  std::size_t kept = 0, spilled = 0;
  for (const auto& b : p.rain.buckets) {
    kept += b.kept;
    spilled += b.spilled;
  }
  CHECK(near(static_cast<double>(spilled), o.dropped / 100 * 4096));
  CHECK(kept + spilled == 4096);
  widgets::TokenRainLayout l;
  const auto narrow = [](std::string_view s, widgets::Type) { return 7.0f * static_cast<float>(s.size()); };
  widgets::set_theme(widgets::make_theme(widgets::Mode::dark, 1.0f, {}));
  widgets::layout_token_rain(p.rain, {{0, 0}, {900, 500}}, narrow, l);
  CHECK(near(l.total_s, o.layer.layer_s, 1e-9));
  CHECK(p.answer.starts_with("The fullest expert is asked for `"));
}

TEST_CASE("moe: what cannot be is said in a sentence") {
  const auto reason = [](const char* inputs) {
    const LabPtr lab = open_lab("distributed/moe", inputs);
    return reason_of(*lab);
  };
  CHECK(reason(R"({"ranks": 12})").find("16 experts do not lie evenly on 12 ranks") == 0);
  CHECK(reason(R"({"experts": 4, "top_k": 8, "ranks": 4})").find("fewer choices") != std::string::npos);
  CHECK(reason(R"({"chip": "a100_80_sxm", "format": "fp8"})").find("FP8") != std::string::npos);
  CHECK(reason(R"({"experts": 64, "ranks": 32, "top_k": 8, "node_limit": 1, "ranks_per_node": 2})")
            .find("allow more nodes") != std::string::npos);
}

TEST_CASE("moe: dragging the rim sets the capacity factor, and the rain plays and stops") {
  use_bundled_catalog();
  const LabPtr lab = open_lab("distributed/moe");
  compute(*lab);
  Canvas canvas(*lab, {1000, 760});
  canvas.ui.frames(3);
  canvas.ui.click("Play##rain");
  canvas.ui.frames(5);
  CHECK(view(*lab, "playing").toggle());
  CHECK(view(*lab, "time").number() < 1);
  canvas.ui.click("Pause##rain");
  CHECK_FALSE(view(*lab, "playing").toggle());

  // The word "capacity" stands beside the rim.
  const auto place_of = [&](std::string_view text) {
    for (const widgets::Stroke& s : canvas.ui.record().strokes)
      if (s.kind == widgets::Stroke::Kind::text && s.text == text) return s.points[0];
    return ImVec2{};
  };
  const ImVec2 word = place_of("capacity"), expert = place_of("15"), even = place_of("even share");
  REQUIRE(word.y > 0);
  const float rim_y = word.y + widgets::theme().type(widgets::Type::small) / 2;
  const ImVec2 rim{expert.x + 4, rim_y};
  canvas.ui.drag_points(rim, {rim.x, rim_y + (even.y - word.y)});
  const double factor = lab->inputs().find("capacity_factor")->number();
  CHECK(factor > 0.9);
  CHECK(factor < 1.1);  // down to the even share
}
