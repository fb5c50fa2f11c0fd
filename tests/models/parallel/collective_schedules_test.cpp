#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "models/parallel/collectives/collective_formulas.h"
#include "models/parallel/collectives/collective_run.h"
#include "tests/support/base/files.h"
#include "tests/support/base/near.h"
#include "tests/support/base/paths.h"

using nlohmann::json;
using support::near;
using namespace models::parallel;
using enum CollectiveAlgorithm;

namespace {

const json& recorded_collectives() {
  static const json all = json::parse(support::read_text(support::data_file("collective_schedules.json")));
  return all;
}

CollectiveSchedule collective_of(const CollectiveSpec& spec) {
  auto made = make_collective(spec);
  INFO(made.error);
  REQUIRE(made);
  return std::move(*made);
}

using Message = std::tuple<int, int, int, int>;  // step, source, target, chunk
std::set<Message> messages_of(const CollectiveSchedule& s) {
  std::set<Message> out;
  for (const ChunkTransfer& t : s.transfers) out.insert({t.step, t.source, t.target, t.chunk});
  CHECK(out.size() == s.transfers.size());
  return out;
}
/// The messages of [[[source, target, chunk or chunks], ...], ...], a list a step.
std::set<Message> messages_of(const json& steps) {
  std::set<Message> out;
  for (int step = 0; step < static_cast<int>(steps.size()); ++step)
    for (const json& m : steps[static_cast<std::size_t>(step)]) {
      const json chunks = m[2].is_array() ? m[2] : json::array({m[2]});
      for (const json& chunk : chunks) out.insert({step, m[0].get<int>(), m[1].get<int>(), chunk.get<int>()});
    }
  return out;
}

/// All collectives with all their algorithms on these ranks, that there are.
template <class Check>
int for_each_collective(std::int64_t ranks, const Check& checked) {
  int refused = 0;
  for (std::size_t p = 0; p < primitive_count; ++p)
    for (std::size_t a = 0; a < collective_algorithm_count; ++a) {
      CollectiveSpec spec{static_cast<Primitive>(p), static_cast<CollectiveAlgorithm>(a), ranks};
      if (!has_algorithm(spec.primitive, spec.algorithm)) continue;
      for (const std::int64_t variant : {0, 1, 2}) {
        spec.nccl_start = variant == 1;
        spec.pieces = variant == 2 ? 3 : 1;
        spec.node_ranks = ranks % 2 == 0 ? 2 : ranks % 3 == 0 ? 3 : ranks % 5 == 0 ? 5 : 7;
        if (variant == 2 && spec.algorithm == hierarchical) spec.node_ranks = ranks / 2;
        if (const models::Status fit = check(spec); !fit) {
          CHECK(fit.error.ends_with('.'));
          CHECK((spec.algorithm == hierarchical || (spec.algorithm == halving_doubling && !is_power_of_two(ranks))));
          ++refused;
          continue;
        }
        INFO(primitive_id(spec.primitive) << ' ' << collective_algorithm_id(spec.algorithm) << " on " << ranks
                                          << " ranks, nodes of " << spec.node_ranks << ", variant " << variant);
        checked(spec);
      }
    }
  return refused;
}

}  // namespace

TEST_CASE("collectives: every algorithm on 2 to 64 ranks ends with the right numbers where they are asked for") {
  for (std::int64_t ranks = 2; ranks <= 64; ++ranks)
    for_each_collective(ranks, [&](const CollectiveSpec& spec) {
      const CollectiveSchedule s = collective_of(spec);
      const CollectiveRun run = run_collective(s, false);
      CHECK(run.asked >= (spec.primitive == Primitive::reduce ? s.chunks : ranks - 1));
      CHECK(run.right == run.asked);
      if (spec.primitive == Primitive::reduce_scatter) {
        std::vector<int> owned(static_cast<std::size_t>(ranks), 0);
        for (std::int64_t r = 0; r < ranks; ++r)
          for (std::int64_t c = 0; c < s.chunks; ++c)
            if (asked_origins(s, r, c) != 0) ++owned[static_cast<std::size_t>(r)];
        CHECK(std::count(owned.begin(), owned.end(), 1) == ranks);  // each rank keeps one share
      }
    });
}

TEST_CASE("collectives: no rank sends or receives more, and no step is left out, than the closed forms say") {
  const AlphaBetaLinks links{5e-6, 50e9, 300e9, 1e-6, 450e9};
  for (std::int64_t ranks = 2; ranks <= 64; ++ranks)
    for_each_collective(ranks, [&](const CollectiveSpec& spec) {
      if (spec.pieces > 1 && (spec.algorithm == double_binary_tree || spec.algorithm == ring)) return;
      const CollectiveSchedule s = collective_of(spec);
      const ChunkTraffic traffic = chunk_traffic(s);
      const double most = static_cast<double>(*std::max_element(traffic.sent.begin(), traffic.sent.begin() + ranks));
      CHECK(near(most / static_cast<double>(s.chunks), sent_share(spec)));
      CHECK(s.steps == collective_steps(spec));
      const AlphaBetaTime each = step_by_step_time(s, 3e6, links), closed = collective_time(spec, 3e6, links);
      const bool chain =
          spec.algorithm == ring && (spec.primitive == Primitive::broadcast || spec.primitive == Primitive::reduce);
      if (spec.algorithm == double_binary_tree || spec.algorithm == in_network || chain) {
        CHECK(closed.total_s() <= each.total_s() * (1 + 1e-12));  // pipelined
        return;
      }
      CHECK(near(each.latency_s, closed.latency_s));
      CHECK(near(each.transfer_s, closed.transfer_s));
      CHECK(std::abs(each.reduce_s - closed.reduce_s) <= 1e-15);
    });
}

TEST_CASE("collectives: the recorded steps of rings, halving and doubling, and trees") {
  const json& all = recorded_collectives();
  for (const json& c : all.at("rings")) {
    const CollectiveSchedule s = collective_of({.ranks = c.at("ranks"), .nccl_start = c.at("nccl")});
    CHECK(messages_of(s) == messages_of(c.at("steps")));
    CollectiveSpec half = s.spec;
    half.primitive = Primitive::reduce_scatter;
    const CollectiveSchedule rs = collective_of(half);
    for (std::int64_t r = 0; r < half.ranks; ++r)
      CHECK(asked_origins(rs, r, c.at("owners")[static_cast<std::size_t>(r)]) != 0);
  }
  for (const json& c : all.at("halving_doubling"))
    CHECK(messages_of(collective_of({.algorithm = halving_doubling, .ranks = c.at("ranks")})) ==
          messages_of(c.at("steps")));
  for (const json& c : all.at("recursive_doubling")) {
    const CollectiveSchedule s = collective_of({.algorithm = recursive_doubling, .ranks = c.at("ranks")});
    for (const ChunkTransfer& t : s.transfers)
      CHECK(c.at("partners")[static_cast<std::size_t>(t.step)][static_cast<std::size_t>(t.source)] == t.target);
    CHECK(s.transfers.size() == c.at("partners").size() * c.at("partners")[0].size());
  }
  const json& binomial = all.at("binomial");
  CHECK(messages_of(collective_of({.algorithm = tree, .ranks = binomial.at("ranks")})) ==
        messages_of(binomial.at("steps")));
  for (const json& c : all.at("binary_trees"))
    for (const bool second : {false, true})
      CHECK(json(binary_tree_parents(c.at("ranks"), second)) == c.at("parents")[second ? 1 : 0]);
}

TEST_CASE("collectives: recorded times of the alpha-beta model, and the sizes at which algorithms change places") {
  const json& all = recorded_collectives();
  const std::map<std::string, CollectiveSpec> by_name{
      {"ring_allreduce", {Primitive::all_reduce, ring}},
      {"recursive_doubling_allreduce", {Primitive::all_reduce, recursive_doubling}},
      {"halving_doubling_allreduce", {Primitive::all_reduce, halving_doubling}},
      {"binomial_tree_allreduce", {Primitive::all_reduce, tree}},
      {"double_binary_tree_allreduce_limit", {Primitive::all_reduce, double_binary_tree}},
      {"ring_reduce_scatter", {Primitive::reduce_scatter, ring}},
      {"ring_all_gather", {Primitive::all_gather, ring}},
      {"binomial_bcast", {Primitive::broadcast, tree}},
      {"binomial_reduce", {Primitive::reduce, tree}},
      {"scatter_allgather_bcast", {Primitive::broadcast, scatter_all_gather}},
      {"pairwise_alltoall", {Primitive::all_to_all, pairwise}},
      {"bruck_alltoall", {Primitive::all_to_all, bruck}}};
  const AlphaBetaLinks links{.latency_s = 5e-6, .bandwidth_bytes_per_s = 50e9};
  for (const json& c : all.at("costs_us"))
    for (const auto& [name, us] : c.at("times").items()) {
      INFO(name << " on " << c.at("ranks"));
      CollectiveSpec spec = by_name.at(name);
      spec.ranks = c.at("ranks");
      CHECK(near(collective_time(spec, c.at("bytes"), links).total_s(), 1e-6 * us.get<double>(), 1e-9));
    }
  for (const json& c : all.at("crossings_bytes")) {
    const CollectiveSpec flat{.ranks = c.at("ranks")};
    for (const CollectiveAlgorithm other : {tree, double_binary_tree}) {
      CollectiveSpec spec = flat;
      spec.algorithm = other;
      const std::vector<double> at = crossing_bytes(flat, spec, links, 1, 1e12);
      REQUIRE(at.size() == 1);
      CHECK(near(at[0], c.at(std::string(collective_algorithm_id(other))), 1e-8));
    }
    CollectiveSpec halving = flat;
    halving.algorithm = halving_doubling;
    CHECK(crossing_bytes(flat, halving, links, 1, 1e12).empty());
  }
}

TEST_CASE("collectives: eight nodes of eight, and the switch that adds") {
  const json& h = recorded_collectives().at("hierarchical_8x8_1GB");
  const CollectiveSpec spec{.algorithm = hierarchical, .ranks = 64, .node_ranks = 8};
  const AlphaBetaLinks links{.latency_s = 0, .bandwidth_bytes_per_s = 50e9, .inside_latency_s = 0};
  const HierarchyTimes t = hierarchy_times(spec, 1e9, links);
  CHECK(near(t.inside_s, 1e-3 * h.at("intra_ms").get<double>(), 1e-6));
  CHECK(near(t.between_s, 1e-3 * h.at("inter_ms").get<double>(), 1e-6));
  CHECK(near(t.pipelined_s, 1e-3 * h.at("pipelined_bound_ms").get<double>(), 1e-6));
  CHECK(near(t.flat_ring_s, 1e-3 * h.at("flat_ring_one_nic_ms").get<double>(), 1e-6));
  CHECK(near(t.flat_rails_s, 1e-3 * h.at("flat_ring_8_rails_ms").get<double>(), 1e-6));
  CHECK(near(t.one_port_s, 1e-3 * h.at("seed_variant_one_gpu_per_node_ms").get<double>(), 1e-6));
  CHECK(near(collective_time(spec, 1e9, links).total_s(), 1e-3 * h.at("serial_ms").get<double>(), 1e-6));
  CHECK(collective_steps(spec) == h.at("latency_steps_hier"));
  CHECK(collective_steps({.ranks = 64}) == h.at("latency_steps_flat_ring"));

  const CollectiveSpec ring8{.ranks = 8}, nvls{.algorithm = in_network, .ranks = 8};
  CHECK(near(sent_share(ring8) / sent_share(nvls), 14.0 / 9));
  // Published algorithm bandwidths of NVLS on 5 to 8 H100 (nccl issue 1455) imply one wire rate.
  const std::vector<std::pair<std::int64_t, double>> published{{5, 258e9}, {6, 265e9}, {7, 270e9}, {8, 273e9}};
  for (const auto& [ranks, algbw] : published)
    CHECK(near(algbw * sent_share({.algorithm = in_network, .ranks = ranks}), 308.5e9, 0.005));
}

TEST_CASE("collectives: what there is not is refused with a sentence") {
  CHECK(check({.primitive = Primitive::all_to_all}).error ==
        "There is no ring all-to-all here: choose pairwise or bruck.");
  CHECK(check({.primitive = Primitive::reduce_scatter, .algorithm = halving_doubling, .ranks = 6})
            .error.find("power of two, not 6 ranks") != std::string::npos);
  CHECK_FALSE(check({.algorithm = hierarchical, .ranks = 8, .node_ranks = 8}));
  CHECK_FALSE(check({.algorithm = hierarchical, .ranks = 9, .node_ranks = 4}));
  CHECK_FALSE(check({.ranks = 1}));
  CHECK_FALSE(make_collective({.ranks = 65}));
  CHECK(check({.ranks = 65}));
  // The fold: three more ranks than four make the same all-reduce with two steps more.
  CHECK(collective_steps({.algorithm = halving_doubling, .ranks = 7}) == 6);
}
