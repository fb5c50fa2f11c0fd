#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "chapters/mechanism/catalog.h"
#include "chapters/serving/paged_kv/lab.h"
#include "models/compression/deployment.h"
#include "models/inference/kv_cache.h"
#include "widgets/number/number.h"

namespace chapters::serving::paged_kv {
namespace {

using models::PagedDemand, models::PagedRun, models::PagedSetup;
using widgets::format_text;

constexpr std::size_t max_in_file = 20'000, max_split_frames = 60;
constexpr std::int64_t max_followed_blocks = 65'536, max_token_steps = 4'000'000;

models::RequestStream stream_of_paged(const Inputs& in) {
  return {
      .requests = in.requests,
      .rate_per_s = in.arrival_rate,
      .seed = static_cast<std::uint64_t>(in.seed),
      .prompt_tokens = in.prompt_tokens,
      .output_tokens = in.output_tokens,
      .length_variation = in.length_variation,
      .service_times = false,
  };
}

std::int32_t answers_of(const Inputs& in) {
  return in.kind == Answers::one ? 1 : static_cast<std::int32_t>(in.answers);
}

/// Requests that are longer than the context allows.
std::int64_t longer_than(const std::vector<models::ServingRequest>& requests, std::int64_t tokens) {
  return std::count_if(requests.begin(), requests.end(), [&](const models::ServingRequest& r) {
    return std::int64_t{r.prompt_tokens} + r.output_tokens > tokens;
  });
}

/// Who asks for what; `out` says what is left out or cut.
models::Result<PagedDemand> paged_demand_of(const Inputs& in, Outputs& out) {
  using Outcome = models::Result<PagedDemand>;
  // Beams end together, sampled answers each for itself; a file says one length.
  if (in.trace.text.empty()) {
    const models::RequestStream stream = stream_of_paged(in);
    const auto requests = models::make_requests(stream);
    out.cut = longer_than(requests, in.longest_tokens);
    return Outcome::ok(models::paged_demand(requests, answers_of(in), in.longest_tokens,
                                            in.kind == Answers::sampled ? &stream : nullptr));
  }
  auto read = models::parse_requests(in.trace.text, max_in_file);
  if (!read) return Outcome::fail(read.error);
  if (read->requests.empty()) return Outcome::fail("No row of the file has a request that got a token.");
  out.failed = read->failed;
  out.cut = longer_than(read->requests, in.longest_tokens);
  return Outcome::ok(models::paged_demand(read->requests, answers_of(in), in.longest_tokens, nullptr));
}

/// What a step takes, and memory.
models::Result<models::ServingCost> price(const Inputs& in, Outputs& out) {
  using Outcome = models::Result<models::ServingCost>;
  const auto chip = find_chip(in.chip);
  const auto model = find_model(in.model);
  if (!chip || !model) return Outcome::fail(!chip ? chip.error : model.error);
  const models::Architecture& architecture = (*model)->architecture;
  const models::ServingMachine machine{
      .chip = *chip,
      .chips = static_cast<double>(in.chips),
      .format = in.format,
      .memory_share = 1,
  };
  const auto memory = models::serving_memory(architecture, machine);
  out.weights_bytes = memory.weights_bytes;
  out.memory_bytes = memory.offered_bytes;
  if (!memory.holds_weights())
    return Outcome::fail("The weights take " + format_text(memory.weights_bytes, "B", 4) + " and " +
                         std::to_string(in.chips) + "\xC3\x97 " + (*chip)->short_name + " have " +
                         format_text(memory.offered_bytes, "B", 4) +
                         ": take more chips, a narrower format or a smaller model.");
  auto cost = models::serving_cost(architecture, machine);
  if (!cost) return cost;
  const models::KvRecipe* format = models::find_kv_recipe(in.kv_format);
  const double bits = format ? format->bits : 16;
  cost->context_s *= bits / 16;
  out.token_bytes = models::inference::kv_token_bytes(architecture, {.bits = bits});
  return cost;
}

PagedSetup setup_of(const Inputs& in, const models::ServingCost& cost, const Outputs& out, const Progress& progress) {
  PagedSetup s{.cost = &cost, .pool_tokens = in.pool_tokens, .max_running = in.max_running};
  s.rule = in.reserve_rule;
  s.fit = in.fit;
  s.reserve_tokens = in.reserve_tokens;
  s.block_tokens = in.block_tokens;
  s.watermark_blocks = out.kept_blocks;
  s.when_full = in.when_full;
  s.share = in.share;
  s.replaced = in.kind == Answers::beams ? in.replaced / 100 : 0;
  s.seed = static_cast<std::uint64_t>(in.seed);
  s.link_bytes_per_s = in.link_bytes_per_s;
  s.token_bytes = out.token_bytes;
  s.host_blocks = static_cast<std::int64_t>(in.host_bytes / std::max(1.0, out.block_bytes));
  s.max_sequence_steps = max_token_steps;
  s.cancelled = &progress.cancelled;
  return s;
}

/// From when a third of the requests have come, since both pools fill first, to the last arrival.
void measure_between(const PagedDemand& demand, PagedSetup& s) {
  const auto& requests = demand.requests;
  s.measure_from_us = requests[requests.size() / 3].arrival_us;
  s.measure_until_us = requests.back().arrival_us;
}

PoolFigures figures_of(const PagedRun& run, const models::PagedIntegrals& sum, std::int64_t slots) {
  PoolFigures out;
  out.served = run.completed;
  out.refused = run.refused;
  out.most_running = run.peak_running;
  if (!(sum.us > 0)) return out;
  const double share = 100 / sum.us / static_cast<double>(slots);
  out.running = sum.running / sum.us;
  out.waiting = sum.waiting / sum.us;
  out.used = share * sum.used;
  out.later = share * sum.later;
  out.never = share * sum.never;
  out.stranded = share * sum.stranded;
  out.spare = share * sum.spare;
  out.empty = 100 - out.used;
  return out;
}

void fill_facts(const PagedRun& reserved, const PagedRun& paged, const Inputs& in, Outputs& out) {
  // A window shorter than what is served in it says little: then all that is shown counts.
  const bool all = !(paged.measured.us >= 0.2 * paged.whole.us);
  const models::PagedIntegrals &in_blocks = all ? paged.whole : paged.measured,
                               &ahead = all ? reserved.whole : reserved.measured;
  out.paged = figures_of(paged, in_blocks, in.pool_tokens);
  out.reserved = figures_of(reserved, ahead, in.pool_tokens);
  out.measured_s = in_blocks.us / 1e6;
  out.preemptions = paged.preemptions;
  out.recomputed_tokens = paged.recomputed_tokens;
  out.swapped_bytes = static_cast<double>(paged.swapped_out_blocks) * out.block_bytes;
  out.copies = paged.copies;
  out.unfilled_expected = static_cast<double>(in.block_tokens - 1) / 2;
  if (in_blocks.sequences > 0) out.unfilled_slots = in_blocks.never / in_blocks.sequences;
  if (in_blocks.named_blocks > 0) out.saved = 100 * (1 - in_blocks.blocks / in_blocks.named_blocks);
  if (paged.stuck_us >= 0) {
    out.stuck_s = static_cast<double>(paged.stuck_us) / 1e6;
    out.stuck_requests = paged.stuck_requests;
  }
}

/// How many more run in blocks than where slots are reserved: in a pool of as many slots, and in one of as many bytes
/// whose numbers have 16 bits.
void fill_gains(const Run& run, PagedSetup s, const Inputs& in, Outputs& out) {
  const auto ratio = [&](double reserved) { return reserved > 0 ? out.paged.running / reserved : std::nan(""); };
  out.gain = out.gain_16 = ratio(out.reserved.running);
  const models::KvRecipe* format = models::find_kv_recipe(in.kv_format);
  if (!format || format->bits == 16) return;
  s.pool_tokens = std::llround(static_cast<double>(in.pool_tokens) * format->bits / 16);
  s.token_bytes = out.token_bytes * 16 / format->bits;
  s.frame_times_us = {};
  models::ServingCost cost = *s.cost;
  cost.context_s *= 16 / format->bits;
  s.cost = &cost;
  const PagedRun wide = models::simulate_reserved(run.demand, s);
  const bool all = !(run.paged.measured.us >= 0.2 * run.paged.whole.us);
  out.gain_16 = ratio(figures_of(wide, all ? wide.whole : wide.measured, s.pool_tokens).running);
}

/// How long the one that is served first waits.
void fill_first(const Run& run, std::int64_t urgent, Outputs& out) {
  if (urgent < 0) return;
  out.first_request = urgent + 1;
  const auto i = static_cast<std::size_t>(urgent);
  const auto wait_s = [&](const PagedRun& pool) {
    const std::int64_t start = pool.served[i].start_us;
    return start < 0 ? std::nan("") : static_cast<double>(start - run.demand.requests[i].arrival_us) / 1e6;
  };
  out.paged_first_wait_s = wait_s(run.paged);
  out.reserved_first_wait_s = wait_s(run.reserved);
}

/// Moments that are kept whole: evenly spread, and before and at the first copies, so that a block can be seen to
/// split.
std::vector<std::int64_t> moments_of(const PagedRun& run, std::int64_t shown_us, std::int64_t blocks) {
  const std::int64_t count = std::clamp<std::int64_t>(2'000'000 / std::max<std::int64_t>(1, blocks), 40, 400);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(shown_us * i / count);
  if (shown_us > 0) out.push_back(shown_us - 1);
  const std::size_t step = std::max<std::size_t>(1, run.copied.size() / max_split_frames);
  for (std::size_t i = 0; i < run.copied.size(); i += step) {
    const std::int64_t at = run.copied[i].time_us;
    if (at > 0) out.push_back(at - 1);
    out.push_back(at);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// The same requests with blocks of other sizes; fewer sizes where there is much to simulate, and none where there is
/// too much.
std::vector<SizeRow> rows_by_size(const PagedDemand& demand, PagedSetup s, const Inputs& in, std::int64_t tokens) {
  std::vector<SizeRow> out;
  if (tokens > 600'000) return out;
  const std::int64_t factor = tokens > 50'000 ? 4 : 2;
  s.frame_times_us = {};
  const double watermark = in.watermark / 100;
  for (std::int64_t size = 1; size <= std::min<std::int64_t>(1024, in.pool_tokens); size *= factor) {
    s.block_tokens = size;
    s.watermark_blocks = static_cast<std::int64_t>(watermark * static_cast<double>(in.pool_tokens / size));
    const double block_bytes = static_cast<double>(size) * s.token_bytes;
    s.host_blocks = static_cast<std::int64_t>(in.host_bytes / std::max(1.0, block_bytes));
    s.until_us = std::numeric_limits<std::int64_t>::max();
    const PagedRun run = models::simulate_paged(demand, s);
    if (run.stopped) return {};
    const bool all = !(run.measured.us >= 0.2 * run.whole.us);
    const PoolFigures figures = figures_of(run, all ? run.whole : run.measured, in.pool_tokens);
    out.push_back({size, figures.used, figures.never, figures.running});
  }
  return out;
}

std::string refused_setting(const Inputs& in) {
  if (in.block_tokens > in.pool_tokens)
    return "A block of " + format_text(static_cast<double>(in.block_tokens), "", 9) +
           " tokens does not fit into a pool of " + format_text(static_cast<double>(in.pool_tokens), "", 9) +
           ": take smaller blocks.";
  if (in.pool_tokens / in.block_tokens > max_followed_blocks)
    return "At most 65,536 blocks are followed here: take larger blocks or a smaller pool.";
  return {};
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  Outputs out;
  const auto fail = [](std::string why) { return Computed<Outputs, Run>{{.reason = std::move(why)}}; };
  if (std::string why = refused_setting(in); !why.empty()) return fail(std::move(why));
  const auto cost = price(in, out);
  if (!cost) return fail(cost.error);
  Run run;
  auto demand = paged_demand_of(in, out);
  if (!demand) return fail(demand.error);
  run.demand = std::move(*demand);
  out.asked = static_cast<std::int64_t>(run.demand.requests.size());
  out.blocks = in.pool_tokens / in.block_tokens;
  out.kept_blocks = static_cast<std::int64_t>(in.watermark / 100 * static_cast<double>(out.blocks));
  out.block_bytes = static_cast<double>(in.block_tokens) * out.token_bytes;
  out.pool_bytes = static_cast<double>(in.pool_tokens) * out.token_bytes;
  out.left_bytes = out.memory_bytes - out.weights_bytes - out.pool_bytes;
  PagedSetup s = setup_of(in, *cost, out, progress);
  s.urgent = std::min(in.urgent, out.asked) - 1;
  measure_between(run.demand, s);
  run.paged = models::simulate_paged(run.demand, s);
  run.shown_us = run.paged.end_us;
  std::vector<std::int64_t> moments;
  if (!progress.facts_alone && !run.paged.stopped) {
    moments = moments_of(run.paged, run.shown_us, out.blocks);
    s.frame_times_us = moments;
    // Without an end, as before: one at the last moment would hide that all stand still from there on.
    run.paged = models::simulate_paged(run.demand, s);
  }
  s.until_us = run.shown_us;
  if (!run.paged.stopped) run.reserved = models::simulate_reserved(run.demand, s);
  if (run.paged.stopped || run.reserved.stopped)
    return fail("More than 4 million tokens would be followed one by one: take fewer requests or shorter answers.");
  fill_facts(run.reserved, run.paged, in, out);
  fill_gains(run, s, in, out);
  out.shown_s = static_cast<double>(run.shown_us) / 1e6;
  fill_first(run, s.urgent, out);
  if (progress.facts_alone) return {std::move(out)};
  run.cells = out.blocks > max_drawn_blocks;
  for (const models::PagedRequest& r : run.demand.requests) {
    run.reserve_slots.push_back(models::reserved_slots(r, 0, s));
    run.first_blocks.push_back((r.prompt_tokens + in.block_tokens - 1) / in.block_tokens);
  }
  run.sizes = rows_by_size(run.demand, s, in, run.paged.tokens);
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::serving::paged_kv
