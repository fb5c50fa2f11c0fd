#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "models/parallel/pipeline/pipeline_formulas.h"
#include "models/parallel/pipeline/pipeline_memory.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using nlohmann::json;
using support::near;
using namespace models;
using namespace models::parallel;

namespace {

const std::map<std::string, PipelineSchedule> by_name{{"gpipe", PipelineSchedule::gpipe},
                                                      {"1f1b", PipelineSchedule::one_f_one_b},
                                                      {"interleaved", PipelineSchedule::interleaved},
                                                      {"zb_h1", PipelineSchedule::zb_h1},
                                                      {"zb_h2", PipelineSchedule::zb_h2},
                                                      {"zb_v", PipelineSchedule::zb_v},
                                                      {"dualpipe", PipelineSchedule::dualpipe},
                                                      {"dualpipe_v", PipelineSchedule::dualpipe_v},
                                                      {"pipedream", PipelineSchedule::pipedream},
                                                      {"pipedream_2bw", PipelineSchedule::pipedream_2bw},
                                                      {"interleaved_zb", PipelineSchedule::interleaved_zb},
                                                      {"breadth_first", PipelineSchedule::breadth_first},
                                                      {"v_half", PipelineSchedule::v_half},
                                                      {"v_min", PipelineSchedule::v_min}};

const json& recorded() {
  static const json all = json::parse(support::read_text(support::data_file("pipeline_schedules.json")));
  return all;
}

PipelineSpec spec_of(const json& c) {
  return {.schedule = by_name.at(c.at("schedule").get<std::string>()),
          .ranks = c.at("ranks"),
          .micro_batches = c.at("micro_batches"),
          .chunks = c.at("chunks"),
          .round = c.value("round", 0)};
}
PipelineTimes times_of(const json& c) {
  PipelineTimes t;
  t.forward_s = c.at("times")[0];
  t.input_gradient_s = c.at("times")[1];
  t.weight_gradient_s = c.at("times")[2];
  t.link_s = c.at("link");
  if (c.contains("pair")) t.pair_s = c.at("pair");
  if (c.contains("rank_factor")) t.rank_factor = c.at("rank_factor").get<std::vector<double>>();
  return t;
}

/// Replaces every rank's order by what is written.
void put_orders(PipelinePlan& plan, const json& orders) {
  for (std::size_t rank = 0; rank < plan.orders.size(); ++rank) {
    plan.orders[rank].clear();
    std::istringstream words(orders[rank].get<std::string>());
    for (std::string word; words >> word;) {
      const auto op = parse_op(word, rank);
      REQUIRE(op);
      plan.orders[rank].push_back(*op);
    }
  }
}

double fraction(const std::string& text) {
  const std::size_t cut = text.find('/');
  return cut == std::string::npos ? std::stod(text) : std::stod(text.substr(0, cut)) / std::stod(text.substr(cut + 1));
}

void check_list(const json& c, const char* key, const std::vector<double>& got) {
  if (!c.contains(key)) return;
  INFO(key);
  REQUIRE(c.at(key).size() == got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO("rank " << i);
    CHECK(near(got[i], c.at(key)[i].get<double>(), 1e-12));
  }
}

template <class Member>
std::vector<double> of_ranks(const PipelineRun& run, Member member) {
  std::vector<double> out;
  for (const PipelineRank& r : run.ranks) out.push_back(r.*member);
  return out;
}

PipelinePlan plan_of(PipelineSchedule schedule, std::int64_t ranks, std::int64_t micro_batches,
                     std::int64_t chunks = 2) {
  auto plan = pipeline_plan({.schedule = schedule, .ranks = ranks, .micro_batches = micro_batches, .chunks = chunks});
  INFO(plan.error);
  REQUIRE(plan);
  return std::move(*plan);
}

}  // namespace

TEST_CASE("Every recorded schedule has its order, times, bubbles and peaks") {
  std::size_t orders = 0, periods = 0;
  for (const json& c : recorded().at("cases")) {
    INFO(c.at("id").get<std::string>());
    const PipelineSpec spec = spec_of(c);
    auto plan = pipeline_plan(spec);
    REQUIRE(plan);
    const bool given = c.value("given", false);
    if (given) put_orders(*plan, c.at("order"));
    if (c.contains("order")) {
      ++orders;
      for (std::size_t rank = 0; rank < plan->orders.size(); ++rank)
        CHECK(order_text(*plan, rank) == c.at("order")[rank].get<std::string>());
    }
    CHECK(check_complete(*plan).error == "");
    const PipelineTimes times = times_of(c);
    const auto run = run_pipeline(*plan, times);
    INFO(run.error);
    REQUIRE(run);
    CHECK(near(run->makespan_s, c.at("makespan").get<double>(), 1e-12));
    check_list(c, "busy", of_ranks(*run, &PipelineRank::busy_s));
    check_list(c, "wall", of_ranks(*run, &PipelineRank::wall_bubble_s));
    check_list(c, "span", of_ranks(*run, &PipelineRank::span_bubble_s));
    check_list(c, "finish", of_ranks(*run, &PipelineRank::last_s));
    check_list(c, "peak", peak_activations(*plan));
    check_list(c, "peak_until_input", peak_activations(*plan, 0));
    check_list(c, "peak_half", peak_activations(*plan, 0.5));
    if (c.contains("start"))
      for (std::size_t rank = 0; rank < plan->orders.size(); ++rank)
        CHECK(run->start_s[rank] == c.at("start")[rank].get<std::vector<double>>());
    if (c.contains("idle_over_makespan"))
      CHECK(std::abs(run->idle_over_makespan - fraction(c.at("idle_over_makespan"))) <= 1e-12);
    if (c.contains("idle_over_ideal"))
      CHECK(std::abs(run->idle_over_ideal - fraction(c.at("idle_over_ideal"))) <= 1e-12);
    if (c.contains("period") && !given) {
      ++periods;
      const auto few = run_pipeline(*steps_in_a_row(spec, 6), times),
                 more = run_pipeline(*steps_in_a_row(spec, 7), times);
      REQUIRE((few && more));
      CHECK(near(more->makespan_s - few->makespan_s, c.at("period").get<double>(), 1e-12));
    }
    const PipelineFormula formula = closed_form(spec, times);
    if (!given && !formula.formula.empty()) {
      INFO(formula.formula);
      CHECK(std::abs(run->ranks[0].wall_bubble_s - formula.bubble_s) <= 1e-9);
    }
  }
  CHECK(recorded().at("cases").size() >= 64);
  CHECK(orders >= 20);
  CHECK(periods >= 10);
}

TEST_CASE("V-Half keeps half of what 1F1B keeps and V-Min a third, at less idle time than 1F1B") {
  // (P + 2) // 2 and (P + 4) // 3 micro-batches (Qi et al. 2024), counted from F to W and over two chunks a rank.
  for (const std::int64_t ranks : {2, 3, 4, 5, 6, 8, 12})
    for (const std::int64_t micro_batches : {2 * ranks, 3 * ranks + 1}) {
      INFO(ranks << " ranks, " << micro_batches << " micro-batches");
      const PipelinePlan one = plan_of(PipelineSchedule::one_f_one_b, ranks, micro_batches);
      const double makespan_s =
          run_pipeline(one, {.forward_s = 2, .input_gradient_s = 2, .weight_gradient_s = 2})->makespan_s;
      for (const PipelineSchedule schedule : {PipelineSchedule::v_half, PipelineSchedule::v_min}) {
        const PipelinePlan plan = plan_of(schedule, ranks, micro_batches);
        CHECK(check_complete(plan).error == "");
        const std::vector<double> peaks = peak_activations(plan);
        const std::int64_t published = schedule == PipelineSchedule::v_half ? (ranks + 2) / 2 : (ranks + 4) / 3;
        CHECK(*std::max_element(peaks.begin(), peaks.end()) == static_cast<double>(2 * published));
        CHECK(run_pipeline(plan, {})->makespan_s < makespan_s);
      }
    }
}

TEST_CASE("PipeDream keeps as many versions of the weights as recorded") {
  for (const json& c : recorded().at("versions")) {
    const std::int64_t ranks = c.at("ranks");
    const bool each = c.at("schedule") == "pipedream";
    // The two-version schedule is made as PipeDream's, whose order is the same, so that too few micro-batches an update
    // can be replayed as well.
    PipelinePlan plan = plan_of(PipelineSchedule::pipedream, ranks, 64);
    if (!each) plan.schedule = PipelineSchedule::pipedream_2bw;
    std::int64_t most = 0;
    bool missing = false;
    for (std::size_t rank = 0; rank < plan.orders.size(); ++rank) {
      const WeightVersions got = weight_versions(plan, rank, c.value("update_every", 1));
      most = std::max(most, got.versions);
      missing = missing || got.missing;
      if (!each) continue;
      CHECK(got.versions == c.at("versions")[rank].get<std::int64_t>());
      CHECK(got.staleness == c.at("staleness")[rank].get<std::int64_t>());
    }
    if (each) {
      check_list(c, "peak", peak_activations(plan));
    } else {
      CHECK(most == c.at("versions").get<std::int64_t>());
      CHECK(missing == c.at("missing").get<bool>());
    }
  }
  CHECK(weight_versions(plan_of(PipelineSchedule::one_f_one_b, 4, 8), 0, 8).versions == 1);
}

TEST_CASE("A pipeline that cannot be made says why") {
  const auto error = [](PipelineSchedule s, std::int64_t ranks, std::int64_t micro_batches) {
    return pipeline_plan({.schedule = s, .ranks = ranks, .micro_batches = micro_batches}).error;
  };
  CHECK(error(PipelineSchedule::interleaved, 4, 10).find("groups of 4, and 10 is no multiple") != std::string::npos);
  CHECK(error(PipelineSchedule::dualpipe, 5, 20).find("5 stages, an odd number") != std::string::npos);
  CHECK(error(PipelineSchedule::dualpipe, 8, 14).find("twice as many micro-batches as stages, 16") !=
        std::string::npos);
  CHECK(error(PipelineSchedule::dualpipe, 4, 9).find("9 is odd") != std::string::npos);
  CHECK(error(PipelineSchedule::dualpipe_v, 4, 7).find("at least twice") != std::string::npos);
  CHECK(error(PipelineSchedule::pipedream_2bw, 8, 7).find("PipeDream-2BW keeps two versions") != std::string::npos);
  CHECK(error(PipelineSchedule::v_half, 64, 65).find("up to 4,096 stages × micro-batches") != std::string::npos);
  CHECK(error(PipelineSchedule::interleaved_zb, 4, 10).starts_with("Interleaved ZB sends micro-batches round"));
  CHECK(error(PipelineSchedule::gpipe, 0, 7).find("1 to 1,024 ranks") != std::string::npos);
}

TEST_CASE("An order that cannot be worked off names who waits for what") {
  PipelinePlan plan = plan_of(PipelineSchedule::one_f_one_b, 4, 8);
  std::swap(plan.orders[3][0], plan.orders[3][1]);  // B0 before F0 on the last rank
  const auto stuck = run_pipeline(plan, {});
  CHECK_FALSE(stuck);
  // All four ranks are stuck, since each waits for the next; the cause is the last one's own order.
  CHECK(stuck.error == "Rank 3 would wait for ever: its B0 needs its own F0, which does not come before it.");
  plan = plan_of(PipelineSchedule::one_f_one_b, 4, 8);
  plan.orders[1].push_back(plan.orders[1].front());
  CHECK(run_pipeline(plan, {}).error == "F0 of rank 1 stands twice.");
  CHECK(check_complete(plan).error.find("exactly once") != std::string::npos);
  CHECK_FALSE(parse_op("5X3", 0));
  CHECK(parse_op("5X3\n4", 0).error.ends_with("and not \"5X3?4\"."));
  CHECK_FALSE(parse_op("(5F3;2I1)", 0));
  CHECK(parse_op("(5F3;2B1)", 0)->back_micro_batch == 1);
}

TEST_CASE("A block is moved within its rank's order, in every step, and what cannot be moved is named") {
  const PipelineSpec spec{.schedule = PipelineSchedule::one_f_one_b, .ranks = 4, .micro_batches = 4};
  const auto op = [](const char* text, std::size_t rank) { return *parse_op(text, rank); };
  const std::vector<PipelineMove> early{{.rank = 3, .block = op("F1", 3), .before = op("B0", 3)}};
  const auto plan = edited_steps(spec, 2, early);
  REQUIRE(plan);
  CHECK(order_text(*plan, 3) == "F0 F1 B0 B1 F2 B2 F3 B3 F4 F5 B4 B5 F6 B6 F7 B7");
  CHECK(order_text(*plan, 2) == order_text(*steps_in_a_row(spec, 2), 2));
  CHECK(check_complete(*plan));
  CHECK(run_pipeline(*plan, {}));
  CHECK(peak_activations(*plan)[3] == 2);
  const std::vector<PipelineMove> late{{.rank = 0, .block = op("F0", 0), .before = {}}};
  CHECK(order_text(*edited_steps(spec, 1, late), 0) == "F1 F2 F3 B0 B1 B2 B3 F0");
  // A schedule that never drains has one order of all its steps.
  PipelineSpec flowing = spec;
  flowing.schedule = PipelineSchedule::pipedream;
  CHECK(order_text(*edited_steps(flowing, 2, early), 3).starts_with("F0 F1 B0 B1 F2 B2 F3 B3 F4 B4 F5"));

  const auto refused = [&](std::int64_t rank, const char* block, const char* before) {
    const std::vector<PipelineMove> moves{{.rank = rank, .block = op(block, 1), .before = op(before, 1)}};
    return edited_steps(spec, 1, moves).error;
  };
  CHECK(refused(1, "F9", "F0") ==
        "A block was moved that is not there: rank 1 has no F9 in this schedule. Take that move back.");
  CHECK(refused(1, "F1", "I0").find("rank 1 has no I0") != std::string::npos);
  CHECK(refused(4, "F1", "F0").find("the ranks are 0 to 3") != std::string::npos);
}

TEST_CASE("A plan whose ranks wait for each other is run as far as it goes, and the circle is named") {
  const PipelineSpec spec{.schedule = PipelineSchedule::one_f_one_b, .ranks = 2, .micro_batches = 2};
  // Rank 0 will not send F1 before B0 has come back, and rank 1 does F1 before B0.
  const std::vector<PipelineMove> moves{
      {.rank = 0, .block = *parse_op("B0", 0), .before = *parse_op("F1", 0)},
      {.rank = 1, .block = *parse_op("F1", 1), .before = *parse_op("B0", 1)},
  };
  const auto plan = edited_steps(spec, 1, moves);
  REQUIRE(plan);
  const PipelineAttempt attempt = attempt_pipeline(*plan, {});
  CHECK(attempt.stuck ==
        "Rank 0 would wait for ever: its B0 needs B0 of rank 1, which does not come before it; in front of "
        "it rank 1 has F1, which needs F1 of rank 0.");
  CHECK(attempt.run.start_s[0] == std::vector<double>{0});
  CHECK(attempt.run.start_s[1] == std::vector<double>{1});
  CHECK(attempt.run.makespan_s == 2);
  CHECK(kept_activations(*plan, {}, attempt.run, 0).back().kept == 1);
  CHECK(run_pipeline(*plan, {}).error == attempt.stuck);
  CHECK(attempt_pipeline(*edited_steps(spec, 1, {}), {}).stuck.empty());
}

TEST_CASE("Every schedule keeps its dependencies on random times") {
  std::uint64_t state = 12345;
  const auto chance = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return 0.1 + static_cast<double>(state >> 40) / 16777216.0;
  };
  for (std::size_t s = 0; s < pipeline_schedule_count; ++s)
    for (const std::int64_t ranks : {1, 2, 3, 4, 6, 8}) {
      const auto schedule = static_cast<PipelineSchedule>(s);
      if (schedule == PipelineSchedule::dualpipe && ranks % 2 == 1) continue;
      INFO(schedule_name(schedule) << " on " << ranks);
      const PipelinePlan plan = plan_of(schedule, ranks, 4 * ranks, 3);
      CHECK(check_complete(plan).error == "");
      PipelineTimes times{.forward_s = chance(), .input_gradient_s = chance(), .weight_gradient_s = chance()};
      times.link_s = chance();
      for (std::int64_t r = 0; r < ranks; ++r) times.rank_factor.push_back(chance());
      const auto run = run_pipeline(plan, times);
      INFO(run.error);
      REQUIRE(run);
      std::map<std::pair<std::int64_t, std::int64_t>, double> forward, backward;
      for (std::size_t r = 0; r < plan.orders.size(); ++r) {
        double free_s = 0;
        for (std::size_t i = 0; i < plan.orders[r].size(); ++i) {
          const PipeOp& op = plan.orders[r][i];
          CHECK(run->start_s[r][i] >= free_s);
          free_s = run->start_s[r][i] + duration_s(times, r, op.kind);
          if (op.kind == PipeKind::forward || op.kind == PipeKind::pair) forward[{op.stage, op.micro_batch}] = free_s;
          if (op.kind == PipeKind::pair) backward[{op.back_stage, op.back_micro_batch}] = free_s;
          if (op.kind == PipeKind::backward || op.kind == PipeKind::input_gradient)
            backward[{op.stage, op.micro_batch}] = free_s;
        }
        const auto curve = kept_activations(plan, times, *run, r);
        double peak = 0;
        for (const KeptActivations& k : curve) peak = std::max(peak, k.kept);
        CHECK(near(peak, peak_activations(plan)[r], 1e-12));
        CHECK(std::abs(curve.back().kept) <= 1e-9);
        CHECK(std::is_sorted(curve.begin(), curve.end(),
                             [](const auto& a, const auto& b) { return a.time_s < b.time_s; }));
      }
      for (std::size_t r = 0; r < plan.orders.size(); ++r)
        for (std::size_t i = 0; i < plan.orders[r].size(); ++i) {
          const PipeOp& op = plan.orders[r][i];
          const auto comes = [&](std::int64_t stage, double end_s) {
            const double link_s = plan.rank_of[static_cast<std::size_t>(stage)] == r ? 0 : times.link_s;
            CHECK(run->start_s[r][i] >= end_s + link_s - 1e-12);
          };
          const bool pair = op.kind == PipeKind::pair;
          if ((pair || op.kind == PipeKind::forward) && op.stage % plan.depth != 0)
            comes(op.stage - 1, forward.at({op.stage - 1, op.micro_batch}));
          const std::int64_t stage = pair ? op.back_stage : op.stage, m = pair ? op.back_micro_batch : op.micro_batch;
          if (op.kind == PipeKind::weight_gradient) comes(stage, backward.at({stage, m}));
          if (op.kind == PipeKind::forward || op.kind == PipeKind::weight_gradient) continue;
          comes(stage, forward.at({stage, m}));
          if ((stage + 1) % plan.depth != 0) comes(stage + 1, backward.at({stage + 1, m}));
        }
      // The critical path fills the makespan: each of its operations and links follows the one before without a gap.
      const auto path = critical_path(plan, times, *run);
      REQUIRE_FALSE(path.empty());
      CHECK(run->start_s[path.front().rank][path.front().index] == 0);
      double at_s = 0;
      for (std::size_t i = 0; i < path.size(); ++i) {
        const double start_s = run->start_s[path[i].rank][path[i].index];
        const bool crosses = i > 0 && path[i].rank != path[i - 1].rank;
        CHECK(near(start_s, at_s + (crosses ? times.link_s : 0), 1e-9));
        at_s = start_s + duration_s(times, path[i].rank, plan.orders[path[i].rank][path[i].index].kind);
      }
      CHECK(near(at_s, run->makespan_s, 1e-12));
    }
}
