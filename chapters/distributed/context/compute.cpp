#include <algorithm>
#include <cmath>

#include "chapters/distributed/context/lab.h"
#include "models/base/integer_math.h"

namespace chapters::distributed::context {
namespace {

using namespace models::parallel;
using models::as_double;

constexpr std::int64_t most_listed = 64;  // ranks whose tiles are listed
constexpr std::size_t most_rows = 8;      // ranks that a clock shows

/// The small attention, on as many ranks as are drawn.
models::Result<ContextRun> small_attention(const Inputs& in) {
  const std::int64_t ranks = in.ranks > 6 ? 4 : in.ranks;
  return run_context_attention({.order = in.order,
                                .ranks = ranks,
                                .sequence = ranks * tokens_a_rank,
                                .heads = ranks,
                                .causal = in.causal,
                                .seed = in.seed});
}

void list_tiles(const Inputs& in, const Setting& s, const ContextRing& ring, Outputs& out) {
  const double s_per_pair = s.setup.flops_per_pair() / s.setup.flops_per_s;
  if (in.ranks > most_listed) return;
  for (std::int64_t step = 0; step < in.ranks; ++step)
    for (std::int64_t rank = 0; rank < in.ranks; ++rank) {
      TileRow row{.step = step, .rank = rank, .keys_of = key_owner(in.ranks, rank, step)};
      row.pairs = tile_pairs(in.order, s.setup.sequence, in.ranks, rank, row.keys_of, in.causal);
      row.compute_s = row.pairs * s_per_pair;
      row.waits_s = ring.steps[static_cast<std::size_t>(step)].time_s() - row.compute_s;
      out.tiles.push_back(row);
    }
}

/// What the query of the small sequence's last token knows after each step.
void list_softmax(const Inputs& in, const ContextRun& small, Outputs& out) {
  const std::int64_t drawn = static_cast<std::int64_t>(small.pairs.size());
  const std::int64_t last = token_rank(in.order, drawn * tokens_a_rank, drawn, drawn * tokens_a_rank - 1);
  for (std::size_t step = 0; step < small.last_query.size(); ++step) {
    const SoftmaxState& state = small.last_query[step];
    out.softmax.push_back({static_cast<std::int64_t>(step),
                           "rank " + std::to_string(key_owner(drawn, last, static_cast<std::int64_t>(step))),
                           state.largest, state.sum, state.result});
  }
}

void count_memory(const Inputs& in, const Setting& s, Outputs& out) {
  const auto bytes = [&](std::int64_t ranks) {
    const auto memory = models::memory::training_memory(s.model->architecture, plan_of(in, ranks, s.setup.sequence));
    return memory ? memory->total() : Outputs::none;
  };
  out.chip_bytes = s.chip->memory_bytes;
  out.memory_bytes = bytes(in.ranks);
  out.one_rank_memory_bytes = bytes(1);
  out.reach = longest_sequence(in, s, in.ranks);
  out.one_rank_reach = longest_sequence(in, s, 1);
}

/// A ring with what its first, its last and some ranks between compute.
OrderRing order_ring(const ContextSetup& setup, ContextRing ring) {
  OrderRing out{.setup = setup, .ring = std::move(ring)};
  const double s_per_pair = setup.flops_per_pair() / setup.flops_per_s;
  const auto ranks = static_cast<std::size_t>(setup.ranks);
  const std::size_t shown = std::min(ranks, most_rows);
  for (std::size_t row = 0; row < shown; ++row) {
    const auto rank = static_cast<std::int64_t>(shown < 2 ? 0 : row * (ranks - 1) / (shown - 1));
    out.ranks.push_back(rank);
    std::vector<double> computes_s;
    for (std::int64_t step = 0; step < setup.ranks; ++step)
      computes_s.push_back(s_per_pair * tile_pairs(setup.order, setup.sequence, setup.ranks, rank,
                                                   key_owner(setup.ranks, rank, step), setup.causal));
    out.computes_s.push_back(std::move(computes_s));
  }
  return out;
}

/// Tiles of the whole sequence, were it shared by the ranks that are drawn: of the few tokens drawn the diagonal would
/// count for too much.
std::vector<std::vector<double>> drawn_pairs(const Inputs& in, std::int64_t sequence, std::int64_t drawn) {
  const std::int64_t pieces = sequence / (2 * in.ranks);
  std::vector<std::vector<double>> pairs(static_cast<std::size_t>(drawn));
  for (std::int64_t step = 0; step < drawn; ++step)
    for (std::int64_t rank = 0; rank < drawn; ++rank)
      pairs[static_cast<std::size_t>(step)].push_back(
          tile_pairs(in.order, 2 * drawn * pieces, drawn, rank, key_owner(drawn, rank, step), in.causal));
  return pairs;
}

}  // namespace

models::Result<Setting> read_setting(const Inputs& in) {
  using Out = models::Result<Setting>;
  const auto cluster = find_cluster(in.model, in.chip, in.network);
  if (!cluster) return Out::fail(cluster.error);
  Setting s{*cluster};
  const models::Architecture& a = s.model->architecture;
  if (a.has_latent())
    return Out::fail(
        "Latent attention keeps one vector per token for all heads, and what of it should travel is not "
        "modelled here; choose a model with keys and values.");
  if (a.heads % in.tensor != 0 || (a.kv_heads % in.tensor != 0 && in.tensor % a.kv_heads != 0))
    return Out::fail("Tensor parallel " + std::to_string(in.tensor) + " does not cut " + std::to_string(a.heads) +
                     " query and " + std::to_string(a.kv_heads) + " key heads evenly; choose a divisor.");
  const auto peak = s.chip->peak_flops_per_s(models::Format::bf16);
  if (!peak) return Out::fail("Nobody states what " + s.chip->short_name + " reaches in BF16; choose another chip.");
  const auto& link = s.chip->interconnect.bytes_per_s_per_direction;
  if (in.link == RingLink::chip && (!link || !(*link > 0)))
    return Out::fail("Nobody states how fast " + s.chip->short_name + " reaches its neighbour; choose the network.");
  s.setup = {.order = in.order,
             .ranks = in.ranks,
             .sequence = models::ceil_div(in.sequence, 2 * in.ranks) * 2 * in.ranks,
             .batch = in.batch,
             .causal = in.causal,
             .backward = in.pass == AttentionPass::backward,
             .heads = a.heads / in.tensor,
             .kv_heads = std::max<std::int64_t>(1, a.kv_heads / in.tensor),
             .head_dim = a.head_dim};
  s.setup.flops_per_s = *peak * in.flops_reached / 100;
  s.setup.link_bytes_per_s = in.link == RingLink::chip
                                 ? *link * in.link_reached / 100
                                 : s.network->bytes_per_s_per_direction * in.network_reached / 100;
  s.setup.message_s = in.message_s;
  if (std::string problem = models::memory::plan_problem(a, plan_of(in, in.ranks, s.setup.sequence)); !problem.empty())
    return Out::fail(std::move(problem));
  return Out::ok(std::move(s));
}

models::memory::TrainingPlan plan_of(const Inputs& in, std::int64_t ranks, std::int64_t sequence) {
  models::memory::TrainingPlan plan;
  plan.batch = in.batch;
  plan.sequence = sequence;
  plan.tensor = in.tensor;
  plan.sequence_parallel = in.tensor > 1;
  plan.context = ranks;
  plan.data = in.data;
  plan.pipeline = in.pipeline;
  plan.micro_batches = in.pipeline;  // enough for the first stage to hold as many as 1F1B lets it
  plan.zero_stage = in.zero_stage;
  plan.recompute = in.recompute;
  plan.loss = in.loss;
  return plan;
}

std::int64_t longest_sequence(const Inputs& in, const Setting& s, std::int64_t ranks) {
  const std::int64_t piece = 2 * ranks * std::max<std::int64_t>(in.tensor, 64), most = (std::int64_t{1} << 26) / piece;
  const double limit = s.chip->memory_bytes;
  const auto bytes = [&](std::int64_t pieces) {
    const auto memory = models::memory::training_memory(s.model->architecture, plan_of(in, ranks, pieces * piece));
    return memory ? memory->total() : HUGE_VAL;
  };
  std::int64_t lo = 1, hi = most;
  double lo_bytes = bytes(lo), hi_bytes = bytes(hi);
  if (!(lo_bytes <= limit)) return 0;
  if (hi_bytes <= limit) return hi * piece;
  // Memory grows with the sequence almost along a line: its crossing is tried, and the middle of what is left, in turn.
  for (bool along = true; hi - lo > 1; along = !along) {
    const double share = along ? (limit - lo_bytes) / (hi_bytes - lo_bytes) : 0.5;
    const auto tried = std::clamp(lo + static_cast<std::int64_t>(share * as_double(hi - lo)), lo + 1, hi - 1);
    const double there = bytes(tried);
    const bool fits = there <= limit;
    (fits ? lo : hi) = tried;
    (fits ? lo_bytes : hi_bytes) = there;
  }
  return lo * piece;
}

namespace {

/// The chosen method beside the contiguous ring, and the parts of a step of the ring.
void judge_times(const Inputs& in, const Setting& s, const ContextRing& ring, Outputs& out) {
  const ContextCost& chosen = out.methods[static_cast<std::size_t>(in.method)].cost;
  out.attention_s = chosen.time_s;
  out.exposed_s = chosen.exposed_s;
  out.sent_bytes = chosen.sent_bytes;
  out.busy_percent =
      100 * (ring.pairs / as_double(in.ranks) * s.setup.flops_per_pair() / s.setup.flops_per_s) / chosen.time_s;
  const double contiguous_s = in.order == ContextOrder::contiguous ? ring.time_s : out.beside_s;
  out.speedup = contiguous_s / chosen.time_s;
  out.slowdown_closed_form = ring_slowdown(ContextOrder::contiguous, in.ranks, in.causal);
  out.sequence = s.setup.sequence;
  out.rank_tokens = as_double(out.sequence / in.ranks);
  out.hiding_tokens = hiding_tokens(s.setup);
  for (const ContextStep& step : ring.steps) out.largest_pairs = std::max(out.largest_pairs, step.slowest_pairs);
  out.fair_pairs = ring.pairs / as_double(in.ranks * in.ranks);
  out.tile_compute_s = out.largest_pairs * s.setup.flops_per_pair() / s.setup.flops_per_s;
  out.transfer_s = in.ranks > 1 ? s.setup.message_s + s.setup.block_bytes() / s.setup.link_bytes_per_s : 0;
}

}  // namespace

Computed compute(const Inputs& in, const Progress& progress) {
  const auto setting = read_setting(in);
  if (!setting) return infeasible<Computed>(setting.error);
  const Setting& s = *setting;
  auto ring = run_context_ring(s.setup);
  ContextSetup other = s.setup;
  other.order = in.order == ContextOrder::contiguous ? ContextOrder::zig_zag : ContextOrder::contiguous;
  auto beside = run_context_ring(other);
  auto small = small_attention(in);
  for (const std::string* why : {&ring.error, &beside.error, &small.error})
    if (!why->empty()) return infeasible<Computed>(*why);
  Computed done;
  Outputs& out = done.facts;
  out.beside_s = beside->time_s;
  out.ring_s = ring->time_s;
  for (std::size_t i = 0; i < context_method_count; ++i) {
    const auto method = static_cast<ContextMethod>(i);
    out.methods.push_back({.method = std::string(context_method_name(method)), .cost = context_cost(method, s.setup)});
    out.methods.back().why_not = out.methods.back().cost.why_not;
  }
  if (const std::string& why_not = out.methods[static_cast<std::size_t>(in.method)].why_not; !why_not.empty()) {
    out.reason = why_not;
    return done;
  }
  judge_times(in, s, *ring, out);
  out.ring_error = small->ring_error;
  out.all_to_all_error = small->all_to_all_error;
  out.averaged_error = 100 * small->forgotten_error;
  list_softmax(in, *small, out);
  list_tiles(in, s, *ring, out);
  count_memory(in, s, out);
  if (progress.facts_alone) return done;
  const auto drawn = static_cast<std::int64_t>(small->pairs.size());
  Run run{.chosen = order_ring(s.setup, std::move(*ring)),
          .beside = order_ring(other, std::move(*beside)),
          .square = square_of(in.order, in.causal, drawn),
          .small_pairs = std::move(small->pairs),
          .pairs = drawn_pairs(in, out.sequence, drawn)};
  for (std::int64_t n = 1; n <= 64; n *= 2)
    run.reach.push_back({n, n == in.ranks ? out.reach : n == 1 ? out.one_rank_reach : longest_sequence(in, s, n)});
  done.run = std::make_shared<const Run>(std::move(run));
  return done;
}

}  // namespace chapters::distributed::context
