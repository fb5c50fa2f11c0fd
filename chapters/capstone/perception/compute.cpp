#include <algorithm>
#include <cmath>

#include "chapters/capstone/perception/lab.h"

namespace chapters::capstone::perception {
namespace {

double percent_of(std::int64_t part, std::int64_t all) {
  return 100 * static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(1, all));
}

RoundRow row_of(const CarGame& game, std::string_view name, CardSet cards) {
  const Outcome& o = game.outcome(cards);
  return {.move = std::string(name),
          .latency_s = o.latency_s,
          .p50_s = o.p50_s,
          .p99_s = o.p99_s,
          .late = percent_of(o.late, game.settings().frames),
          .said_s = Outputs::none};
}

void fill_now(const Inputs& in, const CarGame& game, const Played& played, Outputs& out) {
  const Outcome& now = game.outcome(played.now().cards);
  const Outcome& start = game.outcome(game.start());
  out.p99_s = now.p99_s;
  out.p50_s = now.p50_s;
  out.mean_s = now.mean_s;
  out.p999_s = now.p999_s;
  out.worst_s = now.worst_s;
  out.latency_s = now.latency_s;
  out.beat_s = now.beat_s;
  out.late = percent_of(now.late, in.frames);
  out.unseen = percent_of(now.unseen, in.frames);
  out.tail_ratio = now.p50_s > 0 ? now.p99_s / now.p50_s : 1;
  out.deadline_s = 1 / in.rate_hz;
  out.slack_s = out.deadline_s - now.p99_s;
  out.late_by_s = std::max(0.0, -out.slack_s);
  out.arrives = played.now().met == 1;
  out.start_p99_s = start.p99_s;
  out.start_latency_s = start.latency_s;
  out.travelled_m = in.speed_m_per_s * now.p99_s;
  out.start_travelled_m = in.speed_m_per_s * start.p99_s;
  for (std::size_t r = 0; r < out.asked.size(); ++r) out.asked[r] = 100 * now.asked[r];
}

void fill_rounds(const CarGame& game, const Played& played, Outputs& out) {
  out.score = score_of(played);
  for (const Round& r : played.rounds) {
    RoundRow row = row_of(game, r.card < max_cards ? game.cards()[r.card].name : "As found", r.cards);
    row.won_s = r.won;
    if (r.bounced) row.bounced = r.figures.bounce;
    if (r.said > 0) row.said_s = r.said;
    out.board.push_back(std::move(row));
  }
  if (played.rounds.size() > 1)
    out.mean_won_s = game.outcome(played.rounds[played.rounds.size() - 2].cards).mean_s - out.mean_s;
}

/// The study's rounds by the models, from the same start.
void fill_study(const CarGame& game, Outputs& out) {
  CardSet set = game.start();
  out.study.push_back(row_of(game, "As found", set));
  const auto cards = game.cards();
  for (const StudyRound& round : car_study()) {
    for (const std::string_view id : round.cards)
      for (std::size_t i = 0; i < cards.size(); ++i)
        if (cards[i].id == id && game.outcome(put(cards, set, i)).bounce.empty()) set = put(cards, set, i);
    const double before_s = out.study.back().p99_s;
    out.study.push_back(row_of(game, round.name, set));
    out.study.back().won_s = before_s - out.study.back().p99_s;
  }
  const RoundRow& last = out.study.back();
  out.study_latency_s = last.latency_s;
  out.study_p99_s = last.p99_s;
  out.study_late = last.late;
}

/// What is assumed of cards, in the times of the tasks as they were found.
void fill_worth(const Inputs& in, Outputs& out) {
  double head_s = 0;
  for (const models::StackTask& t : in.tasks) {
    if (t.role == models::StackRole::head && t.resource == models::StackResource::gpu)
      head_s = std::max(head_s, t.duration_s);
    if (t.role != models::StackRole::classic && t.resource == models::StackResource::gpu)
      out.int8_networks_s += t.tuned_s / in.int8_speedup;
  }
  out.dla_head_s = head_s * in.dla_slowdown;
  out.fusion_saved_s = head_s * in.fusion_saving / 100;
  out.anew_per_minute = 60 * in.rate_hz * in.fusion_redone / 100;
  for (const models::JitterSource& s : in.sources)
    if (s.on && s.name == "Memory contention" && s.pattern == models::JitterPattern::random)
      out.pinned_adds_s = s.probability * std::min(s.size_s, in.pinned_contention_s);
}

/// The fewest rounds, told once the target is met: before, it would be a hint. The cards that are there met it, so only
/// fewer are looked at.
void fill_par(const Inputs& in, const CarGame& game, CardSet now, Progress& progress, Searches& searches,
              Outputs& out) {
  if (!out.arrives) return;
  const int cards = game.put_beyond_start(now);
  out.score.par = cards;
  if (cards == 0) return;
  const SearchKey key{settings_of(in), start_of(in), cards - 1};
  const auto par = searches.get(key, [&](const SearchKey& of) -> std::shared_ptr<const Par> {
    const CarGame fewer(of.settings, of.start, of.cards);
    Plays plays(fewer);
    auto found = std::make_shared<Par>(find_par(plays, progress));
    return found->searched ? found : nullptr;
  });
  if (!par) out.score.par = Outputs::none;
  if (par && par->exists) out.score.par = static_cast<double>(par->rounds);
}

}  // namespace

Settings settings_of(const Inputs& in) {
  return {.rate_hz = in.rate_hz,
          .spread = in.spread / 100,
          .frames = in.frames,
          .seed = in.seed,
          .int8_speedup = in.int8_speedup,
          .fusion_saving = in.fusion_saving / 100,
          .fusion_redone = in.fusion_redone / 100,
          .dla_slowdown = in.dla_slowdown,
          .pinned_contention_s = in.pinned_contention_s};
}

Stack start_of(const Inputs& in) {
  std::vector<models::JitterSource> sources = in.sources;
  if (in.hot) set_throttling(sources, true);
  return {.tasks = in.tasks,
          .sources = std::move(sources),
          .units = {in.cpu, in.gpu, in.dla, in.isp},
          .shared_backbone = in.start_shared,
          .parallel_heads = in.start_parallel,
          .pipelining = in.start_pipelining};
}

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress, Searches& searches) {
  if (in.tasks.empty()) return {{.reason = "No task is left in the stack: add one."}};
  const auto game = std::make_shared<CarGame>(settings_of(in), start_of(in));
  Plays plays(*game);
  const auto cards = read_rounds(*game, in.rounds);
  if (!cards) return {{.reason = cards.error}};
  auto played = replay(plays, *cards, in.said);
  if (!played) return {{.reason = played.error}};
  if (!(game->outcome(game->start()).latency_s > 0))
    return {{.reason = "All tasks together take no time: give one of them a time above 0."}};
  Outputs out;
  fill_now(in, *game, *played, out);
  fill_rounds(*game, *played, out);
  fill_study(*game, out);
  fill_worth(in, out);
  fill_par(in, *game, played->now().cards, progress, searches, out);
  if (progress.facts_alone) return {std::move(out)};
  Run run{.played = std::move(*played), .game = game};
  (void)game->stack_of(run.played.now().cards, run.now);
  (void)simulate(game->settings(), run.now, &run.tail, &run.frame);
  const std::size_t rounds = run.played.rounds.size();
  Stack stack;
  for (const Round& r : run.played.rounds) {
    (void)game->stack_of(r.cards, stack);
    run.links.push_back(frame_link(in, stack));
  }
  if (rounds > 1) {
    (void)game->stack_of(run.played.rounds[rounds - 2].cards, stack);
    (void)simulate(game->settings(), stack, &run.before);
  }
  return {std::move(out), std::make_shared<const Run>(std::move(run))};
}

}  // namespace chapters::capstone::perception
