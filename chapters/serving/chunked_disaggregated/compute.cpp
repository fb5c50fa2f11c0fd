#include <algorithm>
#include <cmath>
#include <utility>

#include "chapters/serving/chunked_disaggregated/lab.h"
#include "models/inference/kv_cache.h"
#include "models/inference/tensor_decode.h"
#include "widgets/number/number.h"

namespace chapters::serving::chunked_disaggregated {
namespace {

using models::PartingHistory, models::PartingSetup, models::PartingWorld;
using widgets::format_text;

constexpr double none = std::numeric_limits<double>::quiet_NaN();
/// Tokens of all users in the time that is counted, at most: what one run may take.
constexpr double max_tokens = 200'000;
/// The same where an interval is sought, which takes some thirty runs.
constexpr double max_sought = 50'000;

struct Priced {
  models::ServingCost cost;
  double copies = 1;
};

models::Result<Priced> price(const Inputs& in) {
  using Outcome = models::Result<Priced>;
  const auto model = find_model(in.model);
  const auto chip = find_chip(in.chip);
  if (!model || !chip) return Outcome::fail(!model ? model.error : chip.error);
  const models::Architecture& architecture = (*model)->architecture;
  if (std::string problem = models::inference::decode_cut_problem(architecture, replica_chips(in)); !problem.empty())
    return Outcome::fail(std::move(problem));
  const models::ServingMachine machine{.chip = *chip,
                                       .chips = static_cast<double>(replica_chips(in)),
                                       .format = in.format,
                                       .roof_share = in.roof_percent / 100};
  auto cost = models::serving_cost(architecture, machine);
  if (!cost) return Outcome::fail(cost.error);
  const double copies = models::inference::kv_copies(architecture, {.chip = *chip, .chips = replica_chips(in)});
  return Outcome::ok({models::with_kv_copies(*std::move(cost), copies), copies});
}

/// Why the pools cannot be; empty where they can.
std::string pools_problem(const Inputs& in) {
  const std::int64_t r = replica_chips(in);
  if (in.prefill_chips >= r && in.decode_chips >= r) return {};
  return "A replica takes " + std::to_string(r) + " GPUs, and the pools have " + std::to_string(in.prefill_chips) +
         " and " + std::to_string(in.decode_chips) + ": give each " + std::to_string(r) + " or more.";
}

models::PartingStream stream_of(const Inputs& in) {
  return {in.prompts, in.interval_s, in.spacing == Spacing::random, static_cast<std::uint64_t>(in.seed)};
}

PartingSetup setup_of(const Inputs& in, const models::ServingCost& cost) {
  PartingSetup s{
      .cost = &cost,
      .replicas = in.prefill_chips / replica_chips(in) + in.decode_chips / replica_chips(in),
      .prefill_replicas = in.prefill_chips / replica_chips(in),
      .decoders = in.decoders,
      .context = in.context,
      .prompt_tokens = in.prompt,
      .answer_tokens = in.answer,
      .chunk_tokens = in.chunk_tokens,
      .link_bytes_per_s = in.link_bytes_per_s,
  };
  s.blocks =
      static_cast<std::int64_t>(cost.free_bytes / (cost.kv_bytes_per_token * static_cast<double>(s.block_tokens)));
  return models::with_stream(std::move(s), stream_of(in));
}

/// Why the caches have no room; empty where they have.
std::string room_problem(const Inputs& in, const PartingSetup& s, Outputs& out) {
  const std::int64_t room = s.blocks * s.block_tokens;
  const auto needed = std::max(models::parting_tokens_needed(s, PartingWorld::stalled),
                               models::parting_tokens_needed(s, PartingWorld::parted));
  out.room_percent = room > 0 ? 100 * static_cast<double>(needed) / static_cast<double>(room) : 0;
  if (needed <= room) return {};
  return "The caches of the users and one prompt take up to " + format_text(static_cast<double>(needed), "tokens", 4) +
         " on a " + unit_word(in) + ", which has room for " + format_text(static_cast<double>(room), "tokens", 4) +
         ": take fewer users, shorter texts or more chips.";
}

/// Tokens of all users in the time that is counted, at most.
double tokens_counted(const Inputs& in, const PartingSetup& s) {
  return static_cast<double>(in.decoders) * s.counted_s / s.cost->step_s(1, 1, static_cast<double>(in.context));
}

/// Too much to count, in a sentence; empty where it is not.
std::string size_problem(const Inputs& in, const PartingSetup& s) {
  const double tokens = tokens_counted(in, s);
  if (tokens <= max_tokens) return {};
  return "About " + format_text(tokens, "tokens") +
         " would be written in the time that is counted: take fewer or more frequent prompts, or fewer users.";
}

/// All that figures of a world need besides its own run.
struct References {
  PartingHistory calm, alone;
  models::PartingLimits limits;
  References(const PartingSetup& s, const Inputs& in)
      : calm(models::play_parting(models::calm_of(s), PartingWorld::stalled)),
        alone(models::play_parting(models::alone_of(s), PartingWorld::stalled)),
        limits{in.gap_limit_s, in.ttft_limit_s} {}
  models::PartingFigures count(const PartingSetup& s, const PartingHistory& history) const {
    return models::count_parting(s, history, calm, alone, limits);
  }
};

std::string run_problem(const PartingHistory& history) {
  if (history.out_of_room)
    return "The caches run out of room while prompts wait: take fewer prompts or users, shorter texts or more chips.";
  if (history.stopped) return "The run was stopped, or has too many tokens: take fewer prompts or fewer users.";
  return {};
}

void fill_transfer(const PartingSetup& s, const PartingHistory& history, Outputs& out) {
  out.cache_bytes = static_cast<double>(s.prompt_tokens) * s.cost->kv_bytes_per_token;
  out.transfer_s = out.cache_bytes / s.link_bytes_per_s + s.link_latency_s;
  out.transfer_percent = 100 * out.transfer_s / (out.prefill_s + out.transfer_s);
  out.moved_bytes = history.transfer_bytes;
  for (const models::PartingPrompt& p : history.prompts)
    if (p.token_s.size() > 1) out.newcomer_gap_s = std::max(out.newcomer_gap_s, p.token_s[1] - p.token_s[0]);
}

/// What the pool costs where no prompt comes, and how often prompts must come to be worth it.
void fill_standing(const Inputs& in, const PartingSetup& s, const References& references, Outputs& out) {
  const PartingSetup calm = models::calm_of(s);
  out.kept_lost = references.count(calm, models::play_parting(calm, PartingWorld::parted)).tokens_lost;
  const double tokens = tokens_counted(in, s);
  if (tokens <= max_sought && out.kept_lost > 0)
    out.even_interval_s = models::even_interval_s(s, stream_of(in), in.interval_s * max_sought / tokens).value_or(none);
}

std::int64_t chunks_of(const PartingSetup& s, const PartingHistory& history) {
  const models::PartingPrompt& p = history.prompts.front();
  const models::PartingReplica& reader = history.replicas[static_cast<std::size_t>(p.reader)];
  if (reader.decoders == 0) return (s.prompt_tokens + s.chunk_tokens - 1) / s.chunk_tokens;
  constexpr double rounding_s = 0.5e-6;  // times are whole microseconds, but for their last bits
  const auto from = std::upper_bound(reader.token_s.begin(), reader.token_s.end(), p.start_s + rounding_s),
             to = std::upper_bound(reader.token_s.begin(), reader.token_s.end(), p.first_token_s + rounding_s);
  return to - from;
}

/// The splits that are drawn: all, or every so many and the one that is set.
std::vector<std::int64_t> splits_of(const PartingSetup& s) {
  const std::int64_t most = s.replicas - 1, by = std::max<std::int64_t>(1, (most + 11) / 12);
  std::vector<std::int64_t> out;
  for (std::int64_t readers = 1; readers <= most; ++readers)
    if ((readers - 1) % by == 0 || readers == s.prefill_replicas) out.push_back(readers);
  return out;
}

void add_splits(const PartingSetup& s, const References& references, Run& run) {
  for (const std::int64_t readers : splits_of(s)) {
    PartingSetup split = s;
    split.prefill_replicas = readers;
    if (models::parting_tokens_needed(split, PartingWorld::parted) > s.blocks * s.block_tokens) continue;
    const PartingHistory history = models::play_parting(split, PartingWorld::parted);
    if (!run_problem(history).empty()) continue;
    Point point{.at = static_cast<double>(readers)};
    point.figures[parted] = references.count(split, history);
    run.splits.push_back(point);
  }
}

void add_chunks(const PartingSetup& s, const References& references, Run& run) {
  for (std::int64_t tokens = 128; tokens <= 32768; tokens *= 2) {
    PartingSetup cut = s;
    cut.chunk_tokens = tokens;
    const PartingHistory history = models::play_parting(cut, PartingWorld::chunked);
    if (!run_problem(history).empty()) continue;
    Point point{.at = static_cast<double>(tokens)};
    point.figures[chunked] = references.count(cut, history);
    run.chunks.push_back(point);
    if (tokens >= 2 * s.prompt_tokens) break;
  }
}

/// The bill by how often a prompt comes: a few of them, so that they may meet.
void add_intervals(const Inputs& in, const PartingSetup& s, Run& run) {
  constexpr int points = 11;
  for (int i = 0; i < points; ++i) {
    models::PartingStream stream = stream_of(in);
    stream.interval_s *= std::exp2(0.5 * (i - 4));
    stream.prompts = std::max<std::int64_t>(in.prompts, 3);
    const PartingSetup often = models::with_stream(s, stream);
    if (!size_problem(in, often).empty()) continue;
    const References references(often, in);
    Point point{.at = stream.interval_s};
    bool fits = true;
    for (std::size_t w = 0; w < worlds && fits; ++w) {
      const PartingHistory history = models::play_parting(often, static_cast<PartingWorld>(w));
      fits = run_problem(history).empty();
      point.figures[w] = references.count(often, history);
    }
    if (fits) run.intervals.push_back(point);
  }
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  const auto priced = price(in);
  if (!priced) return {{.reason = priced.error}};
  Outputs out;
  if (out.reason = pools_problem(in); !out.reason.empty()) return {std::move(out)};
  PartingSetup setup = setup_of(in, priced->cost);
  setup.cancelled = &progress.cancelled;
  if (out.reason = size_problem(in, setup); !out.reason.empty()) return {std::move(out)};
  if (out.reason = room_problem(in, setup, out); !out.reason.empty()) return {std::move(out)};
  const References references(setup, in);
  Run run;
  for (std::size_t w = 0; w < worlds; ++w) {
    run.history[w] = models::play_parting(setup, static_cast<PartingWorld>(w));
    if (out.reason = run_problem(run.history[w]); !out.reason.empty()) return {std::move(out)};
    out.world[w].figures = references.count(setup, run.history[w]);
    out.world[w].idle_percent = 100 * out.world[w].figures.idle_share;
  }
  const models::PartingFigures calm = references.count(setup, references.calm);
  out.calm_gap_s = calm.gap_s;
  out.calm_tokens = calm.tokens;
  out.prefill_s = references.alone.prompts.front().first_token_s;
  out.counted_s = setup.counted_s;
  out.kv_copies = priced->copies;
  out.replicas = setup.replicas;
  out.prefill_replicas = setup.prefill_replicas;
  out.decode_replicas = setup.replicas - setup.prefill_replicas;
  out.chunks = chunks_of(setup, run.history[chunked]);
  fill_transfer(setup, run.history[parted], out);
  fill_standing(in, setup, references, out);
  if (progress.facts_alone) return {std::move(out)};
  add_splits(setup, references, run);
  add_chunks(setup, references, run);
  add_intervals(in, setup, run);
  run.setup = setup;
  run.setup.cost = nullptr;
  run.setup.cancelled = nullptr;
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::serving::chunked_disaggregated
