#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "chapters/capstone/serve_70b/lab.h"

namespace chapters::capstone::serve_70b {
namespace {

using models::inference::ServeRound;

std::string card_name(const ServeRules& rules, std::size_t card) {
  return card == max_cards ? "as it is" : std::string(rules.cards()[card].name);
}

constexpr std::string_view nothing_won = "won nothing";

/// What a round that won nothing from token to token did to the first token and to the rate, by a tenth or more.
std::string nothing_won_words(const Figures& before, const Figures& after) {
  const double first = after.values[1] / before.values[1], rate = after.values[2] / before.values[2];
  std::string words;
  const auto add = [&](std::string_view what) { words.append(words.empty() ? "; " : ", ").append(what); };
  if (rate > 1.1 || rate < 1 / 1.1) add(rate > 1 ? "more tokens" : "fewer tokens");
  if (first > 1.1 || first < 1 / 1.1) add(first > 1 ? "the first one later" : "the first one sooner");
  return std::string(nothing_won) + words;
}

void fill_rounds(const ServeRules& rules, const Played& game, Outputs& out) {
  for (std::size_t i = 0; i < game.rounds.size(); ++i) {
    const Round& r = game.rounds[i];
    RoundRow row{.name = card_name(rules, r.card),
                 .found = r.bounced             ? "bounced"
                          : r.card == max_cards ? "the start"
                          : r.nothing_won()     ? nothing_won_words(game.rounds[i > 0 ? i - 1 : 0].figures, r.figures)
                          : r.won > 0           ? "won"
                                                : "lost",
                 .itl_s = r.figures.values[0],
                 .ttft_s = r.figures.values[1],
                 .tokens_per_s = r.figures.values[2],
                 .memory_bytes = r.figures.held_bytes,
                 .bottleneck = static_cast<Cause>(r.figures.bottleneck),
                 .met = static_cast<std::int64_t>(r.met)};
    if (r.card != max_cards && !r.bounced) row.won_s = r.won;
    if (r.said > 0) row.said_s = r.said;
    out.bounced_rounds += r.bounced ? 1 : 0;
    if (std::isfinite(row.won_s)) {
      if (out.first_card.empty()) {
        out.first_card = row.name;
        out.first_won_s = row.won_s;
        out.first_slight = row.found == nothing_won;  // of the other targets neither
      }
      if (r.won > 0 && !r.nothing_won() && (!std::isfinite(out.best_won_s) || row.won_s > out.best_won_s)) {
        out.best_card = row.name;
        out.best_won_s = row.won_s;
      }
      if (r.won < 0 && !r.nothing_won() && (!std::isfinite(out.most_lost_s) || -row.won_s > out.most_lost_s)) {
        out.lost_card = row.name;
        out.most_lost_s = -row.won_s;
      }
    }
    out.rounds.push_back(std::move(row));
  }
  if (out.best_card.empty()) out.best_card = "none";
  out.last_bounced = game.now().bounced;
}

/// Requests at once that fit next to what else a replica holds, in the state that stands.
double most_batch(const ServeRound& now, double batch) {
  const double each = (now.caches_held_bytes) / batch,
               room = now.room_bytes - now.weights_held_bytes - now.scores_held_bytes;
  return each > 0 ? std::max(0.0, std::floor(room / each * (1 + 1e-12))) : no_figure;
}

void fill_now(const Inputs& in, const ServeRules& rules, const Played& game, Outputs& out) {
  const Round &now = game.now(), &start = game.rounds.front();
  const Service service = rules.service_of(now.cards);
  if (const auto round = rules.round_of(service)) out.now = *round;
  out.served_itl_s = now.figures.values[0];
  out.of_longest = in.gap == GapKind::longest;
  out.bottleneck = static_cast<Cause>(now.figures.bottleneck);
  out.bottleneck_s = now.figures.slab[now.figures.bottleneck];
  out.start_itl_s = start.figures.values[0];
  out.start_ttft_s = start.figures.values[1];
  out.start_rate = start.figures.values[2];
  out.batch = static_cast<double>(service.batch);
  out.chips = static_cast<double>(service.tensor_parallel);
  out.most_batch = most_batch(out.now, out.batch);
  out.rounds_played = static_cast<std::int64_t>(game.count);
  out.targets_met = static_cast<std::int64_t>(now.met);
  if (game.all_met()) out.won_in = static_cast<double>(game.first_all_met);
  if (game.predicted > 0) out.prediction_off = game.off;
}

void fill_study(Plays& plays, Outputs& out) {
  const auto played = replay_study(plays, study_rounds());
  const auto row = [&](std::string_view name, const std::array<double, max_targets>& claimed, const StudyPlayed& ours) {
    StudyRow r{.name = std::string(name)};
    r.claimed_itl_s = claimed[0];
    r.claimed_ttft_s = claimed[1];
    r.claimed_rate = claimed[2];
    const bool fits = ours.figures.bounce.empty();
    r.itl_s = fits ? ours.figures.values[0] : no_figure;
    r.ttft_s = fits ? ours.figures.values[1] : no_figure;
    r.rate = fits ? ours.figures.values[2] : no_figure;
    out.study.push_back(std::move(r));
  };
  row("as found", study_start(), played.front());
  for (std::size_t i = 0; i < study_rounds().size(); ++i)
    row(study_rounds()[i].name, study_rounds()[i].claimed, played[i + 1]);
}

void fill_par(Plays& plays, Progress& progress, Outputs& out) {
  const Par par = find_par(plays, progress);
  if (!par.exists) return;
  out.par = static_cast<double>(par.rounds);
  out.par_ways = static_cast<double>(par.ways);
  for (const std::size_t card : par.cards)
    out.par_cards += (out.par_cards.empty() ? "" : ", ") + std::string(plays.rules().cards()[card].name);
}

/// Why the game cannot begin, and what would help; empty where it can.
std::string start_problem(Plays& plays) {
  std::string why = plays.of(plays.rules().start()).bounce;
  if (why.starts_with("It does not fit")) {
    why.pop_back();
    why += " before any card: take more GPUs, a GPU with more memory, a shorter prompt or a smaller model.";
  }
  return why;
}

}  // namespace

Computed<Outputs, Run> compute(const Inputs& in, Progress& progress) {
  using Out = Computed<Outputs, Run>;
  const ServeRules rules(in);
  if (!rules.problem().empty()) return infeasible<Out>(rules.problem());
  Plays plays(rules);
  if (std::string why = start_problem(plays); !why.empty()) return infeasible<Out>(std::move(why));
  const auto cards = read_rounds(rules, in.rounds);
  if (!cards) return infeasible<Out>(cards.error);
  auto game = replay(plays, *cards, in.said);
  if (!game) return infeasible<Out>(game.error);
  Outputs out;
  fill_rounds(rules, *game, out);
  fill_now(in, rules, *game, out);
  out.replicas = std::floor(static_cast<double>(in.gpus) / out.chips);
  fill_study(plays, out);
  if (in.show_par) fill_par(plays, progress, out);
  const Ladder& ladder = published_ladders()[static_cast<std::size_t>(in.ladder)];
  out.ladder_shown = static_cast<std::int64_t>(records_shown(ladder, in.guesses.size()));
  if (!in.guesses.empty()) out.ladder_off = ladder_off(ladder, in.guesses);
  auto run = std::make_shared<Run>(Run{*std::move(game), in.guesses});
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::capstone::serve_70b
