#include <algorithm>
#include <bit>
#include <cmath>

#include "chapters/capstone/train/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/base/integer_math.h"
#include "models/training/slowest_rank.h"
#include "models/transformer/transformer.h"
#include "widgets/number/number.h"

namespace chapters::capstone::train {
namespace {

using models::as_double;
using namespace models::parallel;

/// What nodes, replicas and batches divide into.
std::int64_t power_of_two(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, n))));
}

std::string plan_words(const Run& run) { return plan_name(run.plan) + ", " + plan_detail(run.job, run.plan); }

RoundRow row_of(const Round& r, const RunGame& game) {
  const Outcome o = game.outcome(r.cards);
  return {.move = std::string(r.card < max_cards ? game.cards()[r.card].name : "As found"),
          .wall_s = o.wall_s,
          .won_s = r.won,
          .mfu = 100 * o.mfu,
          .efficiency = 100 * o.efficiency,
          .memory_bytes = o.memory_bytes,
          .said_s = r.said > 0 ? r.said : Outputs::none,
          .bounced = r.bounced ? r.figures.bounce : std::string()};
}

void fill_now(const Inputs& in, const RunGame& game, const Played& played, Outputs& out) {
  const Run run = game.run_of(played.now().cards);
  const Outcome o = game.outcome_of(run);
  out.wall_s = o.wall_s;
  out.over_s = std::max(0.0, o.wall_s - in.target_s);
  out.met = played.now().met == 1;
  out.compute_s = o.steps * o.step_s;
  out.step_s = o.step_s;
  out.steps = o.steps;
  out.mfu = 100 * o.mfu;
  out.efficiency = 100 * o.efficiency;
  out.memory_bytes = o.memory_bytes;
  out.room_bytes = o.room_bytes;
  out.gpus_used = game.job().gpus;
  out.batch_used = game.job().global_batch;
  out.gpu_hours = as_double(out.gpus_used) * o.wall_s / 3600;
  out.dollars = out.gpu_hours * in.price_per_hour;
  out.failures = o.wall_s / run.reliability.mtbf_s;
  const auto part = [&](Cause cause) { return o.cause_s[static_cast<std::size_t>(cause)]; };
  out.bubble_over_work =
      100 * part(Cause::bubble) /
      (part(Cause::arithmetic) + part(Cause::kernels) + part(Cause::recompute) + part(Cause::tensor));
  out.plan = plan_words(run);
  static constexpr std::array<std::string_view, cause_count> names{
      "arithmetic", "kernels",          "recomputation", "tensor parallelism", "gradients", "the bubble",
      "the update", "the slowest GPUs", "failures"};
  for (std::size_t i = 0; i < cause_count; ++i)
    out.causes.push_back({std::string(names[i]), o.cause_s[i], 100 * o.cause_s[i] / o.wall_s});
  // Arithmetic is what the run is for; the rest is what can be won.
  const auto longest = std::max_element(o.cause_s.begin() + 1, o.cause_s.end());
  out.longest = names[static_cast<std::size_t>(longest - o.cause_s.begin())];
}

void fill_rounds(const RunGame& game, const Played& played, Outputs& out) {
  out.score = score_of(played);
  out.start_s = played.rounds.front().figures.said_of;
  const Round& last = played.now();
  out.last_lost_s = std::max(0.0, -last.won);
  out.bounced = last.bounced;
  for (const Round& r : played.rounds) {
    out.lost_s = std::max(out.lost_s, -r.won);
    out.board.push_back(row_of(r, game));
  }
}

/// The study's design on this job: TP 8, PP 4, the rest data parallel, everything recomputed, a checkpoint in half an
/// hour.
void fill_study(const RunGame& game, Outputs& out) {
  Run run = game.run_of(CardSet{}.with(static_cast<std::size_t>(Move::pipeline_4)));
  run.interval_s = 1800;
  const Outcome o = game.outcome_of(run);
  out.study_says = o.bounce;
  out.study_memory_bytes = o.memory_bytes > 0 ? o.memory_bytes : Outputs::none;
  if (!o.bounce.empty()) return;
  out.study_wall_s = o.wall_s;
  out.study_mfu = 100 * o.mfu;
}

std::shared_ptr<const BestPlan> best_plan(const RunGame& game, bool fp8, Progress& progress) {
  CardSet cards = CardSet{}.with(static_cast<std::size_t>(Move::watch));
  if (fp8) cards = cards.with(static_cast<std::size_t>(Move::fp8));
  Run run = game.run_of(cards);
  const auto found = search_plans(run.job, {.max_expert = 1}, [&](double done) {
    progress.fraction = done;
    return !progress.cancelled.load();
  });
  if (found.stopped) return nullptr;
  auto best = std::make_shared<BestPlan>();
  if (found.fitting == 0) return best;
  run.plan = found.points.front();
  run.reliability.save_s = game.job().save_beside_s;
  run.reliability.restart_s = game.job().restart_spares_s;
  run.interval_s = models::fleet::exact_interval_s(run.reliability);
  best->wall_s = game.outcome_of(run).wall_s;
  best->plan = plan_words(run);
  return best;
}

/// Par and the planner's best plan, told once the target is met: before, they would be a hint.
/// The cards that are there met the target, so only games of fewer are looked at.
void fill_score(const Inputs& in, const RunGame& game, CardSet now, Progress& progress, Searches& searches,
                Outputs& out) {
  if (!out.met) return;
  SearchKey key{in};
  key.inputs.rounds.clear();
  key.inputs.said.clear();
  key.inputs.ticked = {};
  key.inputs.price_per_hour = 0;
  const int put = std::popcount(now.bits);
  const bool fp8 = now.has(static_cast<std::size_t>(Move::fp8));
  out.score.par = put;
  if (put > 0) {
    const auto par = searches.par.get({key.inputs, put - 1}, [&](const SearchKey& of) -> std::shared_ptr<const Par> {
      const RunGame fewer(game.job(), of.cards);
      Plays plays(fewer);
      auto found = std::make_shared<Par>(find_par(plays, progress));
      return found->searched ? found : nullptr;
    });
    if (!par) out.score.par = Outputs::none;
    if (par && par->exists) out.score.par = as_double(static_cast<std::int64_t>(par->rounds));
  }
  key.cards = fp8 ? 1 : 0;
  const auto best = searches.best.get(key, [&](const SearchKey&) { return best_plan(game, fp8, progress); });
  if (!best || !(best->wall_s > 0)) return;
  // The search goes through whole numbers of chunks and stages; a game may hold a plan that it does not price.
  const bool yours = out.wall_s < best->wall_s;
  out.best_wall_s = yours ? out.wall_s : best->wall_s;
  out.best_plan = yours ? std::string("yours") : best->plan;
  out.behind_best = 100 * (out.wall_s / out.best_wall_s - 1);
}

}  // namespace

models::Result<Job> job_of(const Inputs& in) {
  using Out = models::Result<Job>;
  const auto model = find_model(in.size == Size::b405 ? "llama-3.1-405b" : "llama-3-70b");
  if (!model) return Out::fail(model.error);
  const auto chip = find_chip(in.chip);
  if (!chip) return Out::fail(chip.error);
  Job job{.architecture = (*model)->architecture,
          .chip = **chip,
          .gpus = power_of_two(in.gpus),
          .global_batch = power_of_two(in.global_batch),
          .sequence = in.sequence,
          .tokens = in.tokens,
          .target_s = in.target_s,
          .network_bytes_per_s = in.port_bytes_per_s,
          .gpu_hours_per_failure = in.gpu_hours_per_failure,
          .interval_s = in.interval_s,
          .save_s = in.save_s,
          .restart_s = in.restart_s,
          .save_beside_s = in.save_beside_s,
          .restart_spares_s = in.restart_spares_s,
          .spread_slow = in.spread_slow / 100,
          .spread = in.spread / 100,
          .price_per_hour = in.price_per_hour};
  if (in.size == Size::b100) job.architecture = hundred_billion(job.architecture);
  return Out::ok(std::move(job));
}

Computed<Outputs, Game> compute(const Inputs& in, Progress& progress, Searches& searches) {
  auto job = job_of(in);
  if (!job) return {{.reason = job.error}};
  const auto rules = std::make_shared<RunGame>(std::move(*job));
  Plays plays(*rules);
  const auto cards = read_rounds(*rules, in.rounds);
  if (!cards) return {{.reason = cards.error}};
  auto played = replay(plays, *cards, in.said);
  if (!played) {
    const Outcome start = rules->outcome(rules->start());
    if (start.memory_bytes > start.room_bytes)
      return {{.reason = "The start of this game takes " + widgets::format_text(start.memory_bytes, "B") +
                         ", and a GPU has room for " + widgets::format_text(start.room_bytes, "B") +
                         ": raise \"GPUs\", or choose a chip with more memory or a smaller model."}};
    return {{.reason = played.error}};
  }
  Outputs out;
  fill_now(in, *rules, *played, out);
  fill_rounds(*rules, *played, out);
  fill_study(*rules, out);
  const CardSet played_now = played->now().cards;
  out.ticked = std::count(in.ticked.begin(), in.ticked.end(), true);
  const models::fleet::RunReliability best{in.save_beside_s, in.restart_spares_s,
                                           in.gpu_hours_per_failure * 3600 / as_double(out.gpus_used)};
  out.clock_at_best = 100 * models::fleet::checkpoint_efficiency(best, models::fleet::exact_interval_s(best));
  out.waits_for_slowest = 100 * models::expected_slowest({.spread = in.spread / 100}, out.gpus_used);
  out.state_bytes = 16 * as_double(models::count_parameters(rules->job().architecture).total);
  fill_score(in, *rules, played_now, progress, searches, out);
  if (progress.facts_alone) return {std::move(out)};
  Game game{.rules = rules, .played = std::move(*played)};
  for (const Round& r : game.played.rounds) {
    const auto link = planner_link(in, rules->run_of(r.cards));
    game.links.push_back(link ? *link : std::string());
  }
  const Run now = rules->run_of(game.played.now().cards);
  game.doors = {planner_link(in, now), train_time_link(in, now, rules->outcome_of(now))};
  return {std::move(out), std::make_shared<const Game>(std::move(game))};
}

}  // namespace chapters::capstone::train
