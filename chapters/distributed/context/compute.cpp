#include <algorithm>
#include <cmath>

#include "chapters/distributed/context/lab.h"
#include "models/base/integer_math.h"

namespace chapters::distributed::context {
namespace {

using namespace models::parallel;
using models::as_double;

constexpr std::int64_t most_listed = 64;  // ranks whose tiles are listed

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

void list_tiles(const Inputs& in, const Setting& s, Outputs& out) {
  const double s_per_pair = s.setup.flops_per_pair() / s.setup.flops_per_s;
  if (in.ranks > most_listed) return;
  for (std::int64_t step = 0; step < in.ranks; ++step)
    for (std::int64_t rank = 0; rank < in.ranks; ++rank) {
      TileRow row{.step = step, .rank = rank, .keys_of = key_owner(in.ranks, rank, step)};
      row.pairs = tile_pairs(in.order, s.setup.sequence, in.ranks, rank, row.keys_of, in.causal);
      row.compute_s = row.pairs * s_per_pair;
      row.waits_s = out.ring.steps[static_cast<std::size_t>(step)].time_s() - row.compute_s;
      out.tiles.push_back(row);
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

}  // namespace

models::Result<Setting> read_setting(const Inputs& in) {
  using Out = models::Result<Setting>;
  const auto cluster = find_cluster(in.model, in.chip, in.network);
  if (!cluster) return Out::fail(cluster.error);
  Setting s{*cluster};
  const models::Architecture& a = s.model->architecture;
  if (a.has_latent())
    return Out::fail(
        "Latent attention keeps one vector a token for all heads, and what of it should travel is not "
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
  const auto fits = [&](std::int64_t pieces) {
    const auto memory = models::memory::training_memory(s.model->architecture, plan_of(in, ranks, pieces * piece));
    return memory && memory->total() <= s.chip->memory_bytes;
  };
  std::int64_t lo = 0, hi = most + 1;
  while (hi - lo > 1) {
    const std::int64_t mid = lo + (hi - lo) / 2;
    (fits(mid) ? lo : hi) = mid;
  }
  return lo * piece;
}

Outputs compute(const Inputs& in) {
  const auto setting = read_setting(in);
  if (!setting) return {.reason = setting.error};
  Outputs out;
  const Setting& s = *setting;
  auto ring = run_context_ring(s.setup);
  ContextSetup other = s.setup;
  other.order = in.order == ContextOrder::contiguous ? ContextOrder::zig_zag : ContextOrder::contiguous;
  auto beside = run_context_ring(other);
  const auto run = small_attention(in);
  if (!ring || !beside || !run) {
    out.reason = !ring ? ring.error : !beside ? beside.error : run.error;
    return out;
  }
  out.ring = std::move(*ring);
  out.beside = std::move(*beside);
  for (std::size_t i = 0; i < context_method_count; ++i) {
    const auto method = static_cast<ContextMethod>(i);
    out.methods.push_back({.method = std::string(context_method_name(method)), .cost = context_cost(method, s.setup)});
    out.methods.back().why_not = out.methods.back().cost.why_not;
  }
  const ContextCost& chosen = out.methods[static_cast<std::size_t>(in.method)].cost;
  if (!chosen.why_not.empty()) {
    out.reason = chosen.why_not;
    return out;
  }
  out.attention_s = chosen.time_s;
  out.exposed_s = chosen.exposed_s;
  out.sent_bytes = chosen.sent_bytes;
  out.busy_percent =
      100 * (out.ring.pairs / as_double(in.ranks) * s.setup.flops_per_pair() / s.setup.flops_per_s) / chosen.time_s;
  ContextSetup contiguous = s.setup;
  contiguous.order = ContextOrder::contiguous;
  if (const auto plain = run_context_ring(contiguous); plain) out.speedup = plain->time_s / chosen.time_s;
  out.slowdown_closed_form = ring_slowdown(ContextOrder::contiguous, in.ranks, in.causal);
  out.sequence = s.setup.sequence;
  out.rank_tokens = as_double(out.sequence / in.ranks);
  out.hiding_tokens = hiding_tokens(s.setup);
  for (const ContextStep& step : out.ring.steps) out.largest_pairs = std::max(out.largest_pairs, step.slowest_pairs);
  out.fair_pairs = out.ring.pairs / as_double(in.ranks * in.ranks);
  out.tile_compute_s = out.largest_pairs * s.setup.flops_per_pair() / s.setup.flops_per_s;
  out.transfer_s = in.ranks > 1 ? s.setup.message_s + s.setup.block_bytes() / s.setup.link_bytes_per_s : 0;
  out.ring_error = run->ring_error;
  out.all_to_all_error = run->all_to_all_error;
  out.averaged_error = 100 * run->forgotten_error;
  const std::int64_t drawn = static_cast<std::int64_t>(run->pairs.size());
  const std::int64_t last = token_rank(in.order, drawn * tokens_a_rank, drawn, drawn * tokens_a_rank - 1);
  for (std::size_t step = 0; step < run->last_query.size(); ++step) {
    const SoftmaxState& state = run->last_query[step];
    out.softmax.push_back({static_cast<std::int64_t>(step),
                           "rank " + std::to_string(key_owner(drawn, last, static_cast<std::int64_t>(step))),
                           state.largest, state.sum, state.result});
  }
  list_tiles(in, s, out);
  count_memory(in, s, out);
  return out;
}

}  // namespace chapters::distributed::context
