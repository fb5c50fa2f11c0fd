#include <algorithm>
#include <cmath>

#include "chapters/interview/scenarios/lab.h"
#include "chapters/practice/drill.h"
#include "chapters/practice/drill_history.h"
#include "models/base/counter_random.h"
#include "models/learning/thread_board.h"
#include "widgets/number/number.h"

namespace chapters::interview::scenarios {
namespace {

constexpr std::string_view kind_letters = "bfdp";

/// The case that was chosen, or one that the seed picks among those of the topic; null where there is none.
template <class Case>
const Case* pick_case(const std::vector<Case>& cases, const Inputs& in) {
  for (const Case& c : cases)
    if (c.id == in.which) return &c;
  std::vector<const Case*> fit;
  for (const Case& c : cases)
    if (in.topic == "any" || c.topic == in.topic) fit.push_back(&c);
  if (fit.empty())
    for (const Case& c : cases) fit.push_back(&c);
  if (fit.empty()) return nullptr;
  return fit[models::counter_hash(static_cast<std::uint64_t>(in.seed), 3) % fit.size()];
}

/// The seed of a board: of the day where that is asked for.
std::int64_t seed_of(const Inputs& in) { return in.deal == Deal::today ? day_of(in.now_s) : in.seed; }

std::string key_of(const Inputs& in, std::string_view id) {
  std::string key(1, kind_letters[static_cast<std::size_t>(in.kind)]);
  if (in.kind != ScenarioKind::board) return key + "/" + std::string(id) + "/" + std::to_string(in.seed);
  return key + "/" + in.topic + "/" + std::to_string(static_cast<int>(in.level)) +
         (in.deal == Deal::twins   ? "/twins/"
          : in.deal == Deal::today ? "/today/"
                                   : "/mixed/") +
         std::to_string(in.cards) + "/" + std::to_string(seed_of(in));
}

void score_board(const Inputs& in, Outputs& out, Run& run) {
  const BoardPlay& play = run.play;
  const auto n = static_cast<std::int64_t>(run.board.cases.size());
  out.cards = n;
  out.causes = n + 1;
  out.right = play.right;
  out.of = 3 * n;
  out.wrong = play.wrong;
  out.told = play.told;
  out.by_luck = models::threads_by_luck(n);
  out.assignments = assignments_of(run.board);
  out.of_topic = run.board.of_topic;
  out.score = 100 * std::max(0.0, (static_cast<double>(play.right) - 0.5 * static_cast<double>(play.wrong)) /
                                      static_cast<double>(out.of));
  run.ended = out.ended = play.ended;
  if (play.ended || in.reveal) out.left_over = run.board.left_over->cause;
  if (play.ended) out.elapsed_s = play.ended_s;
}

std::string compute_board(const Inputs& in, const ScenarioDeck& deck, Outputs& out, Run& run) {
  auto dealt = deal_board(deck, {.topic = in.topic,
                                 .level = static_cast<int>(in.level),
                                 .twins = in.deal == Deal::twins,
                                 .cards = in.cards,
                                 .seed = seed_of(in)});
  if (!dealt) return dealt.error;
  run.board = std::move(*dealt);
  run.key = key_of(in, {});
  out.limit_s = in.case_s * static_cast<double>(in.cards);
  out.what = "a board of " + std::to_string(in.cards);
  run.play = play_board(run.board, moves_for(in.moves, run.key), out.limit_s);
  score_board(in, out, run);
  return {};
}

/// The case's checks as the model takes them; the longest takes `dear_minutes` where that is set.
models::debugging::TreeCase tree_of(const BranchingCase& c, double dear_minutes) {
  models::debugging::TreeCase tree;
  for (const BranchingCause& cause : c.causes) tree.weight.push_back(cause.weight);
  std::size_t dearest = 0;
  for (std::size_t k = 0; k < c.checks.size(); ++k)
    if (c.checks[k].minutes > c.checks[dearest].minutes) dearest = k;
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    const BranchingCheck& check = c.checks[k];
    std::vector<int> outcome(c.causes.size(), 0);
    for (std::size_t o = 0; o < check.outcomes.size(); ++o)
      for (std::size_t i = 0; i < c.causes.size(); ++i)
        if (std::find(check.outcomes[o].causes.begin(), check.outcomes[o].causes.end(), c.causes[i].id) !=
            check.outcomes[o].causes.end())
          outcome[i] = static_cast<int>(o);
    tree.checks.push_back({k == dearest && dear_minutes > 0 ? dear_minutes : check.minutes, std::move(outcome)});
  }
  return tree;
}

/// The cause that is at work: drawn by its weight.
std::size_t drawn_cause(const models::debugging::TreeCase& tree, std::int64_t seed) {
  double sum = 0;
  for (const double w : tree.weight) sum += w;
  double at = models::unit_draw(models::random_stream(seed, 5), 0) * sum;
  for (std::size_t i = 0; i + 1 < tree.weight.size(); ++i) {
    if (at < tree.weight[i]) return i;
    at -= tree.weight[i];
  }
  return tree.weight.size() - 1;
}

double minutes_of(const models::debugging::TreeCase& tree, const std::vector<int>& path) {
  double sum = 0;
  for (const int k : path) sum += tree.checks[static_cast<std::size_t>(k)].minutes;
  return sum;
}

std::string compute_branching(const Inputs& in, const ScenarioDeck& deck, Outputs& out, Run& run) {
  run.branching = pick_case(deck.branching, in);
  if (!run.branching) return "There is no branching case: put one into assets/scenarios.";
  run.key = key_of(in, run.branching->id);
  run.tree = tree_of(*run.branching, in.dear_minutes);
  run.best = models::debugging::best_tree(run.tree);
  if (!run.best.solvable) return "The checks of this case do not part all its causes: choose another case.";
  run.cause = drawn_cause(run.tree, in.seed);
  run.path = models::debugging::best_path(run.tree, run.best, run.cause);
  run.tree_play = play_tree(run.tree, run.cause, moves_for(in.moves, run.key));
  const TreePlay& play = run.tree_play;
  out.what = run.branching->title;
  out.cards = out.causes = static_cast<std::int64_t>(run.tree.weight.size());
  out.checks = static_cast<std::int64_t>(play.ran.size());
  out.spent_minutes = play.spent_min;
  out.best_mean_minutes = run.best.minutes.back();
  out.cheapest_mean_minutes = models::debugging::cheapest_first_minutes(run.tree);
  out.all_checks_minutes = 0;
  out.longest_minutes = 0;
  for (const auto& check : run.tree.checks) {
    out.all_checks_minutes += check.minutes;
    out.longest_minutes = std::max(out.longest_minutes, check.minutes);
  }
  for (std::size_t i = 0; i < run.tree.weight.size(); ++i) out.possible += play.left >> i & 1U;
  run.ended = out.ended = play.ended;
  const double best_here = minutes_of(run.tree, run.path);
  const bool right = play.named == static_cast<int>(run.cause);
  if (play.ended || in.reveal) {
    out.best_here_minutes = best_here;
    out.best_first = run.branching->checks[static_cast<std::size_t>(run.path.front())].name;
    out.left_over = run.branching->causes[run.cause].name;
  }
  if (play.ended) {
    const double pace = play.spent_min > best_here ? best_here / play.spent_min : 1;
    out.score = right ? 100 * play.sure * pace : 0;
    out.wrong = play.named >= 0 && !right;
    out.told = right;
  }
  out.right = static_cast<std::int64_t>(std::lround(out.score));
  out.of = 100;
  return {};
}

/// Puts figures into "{id}".
std::string filled(std::string text, const std::vector<DesignFigure>& figures, const std::vector<FigureRow>& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = "{" + figures[i].id + "}";
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + rows[i].value.size()))
      text.replace(at, name.size(), rows[i].value);
  }
  return text;
}

/// A figure as the lab computes it now.
models::Result<FigureRow> figure_row(const DesignFigure& f, DrillLabs& labs) {
  using Made = models::Result<FigureRow>;
  if (f.lab.starts_with("interview/"))  // it could ask for itself
    return Made::fail("The figure " + f.id + " of this design is of " + f.lab + ": take a lab of another chapter.");
  Drill ask;
  ask.id = f.id;
  ask.lab = f.lab;
  ask.output = f.output;
  ask.set = f.set;
  const auto made = make_question(ask, {}, 1, labs);
  if (!made)
    return Made::fail("The figure " + f.id + " of this design has no value: open " + f.lab +
                      " with its inputs to see why.");
  const double value = made->answer * f.times;
  const std::string text = f.to_hold > 0 ? widgets::format_text(std::ceil(f.to_hold / value), "", 9)
                                         : widgets::format_text(value, made->unit, 3);
  return Made::ok({f.label, text, f.lab, made->link});
}

void count_points(Outputs& out, Run& run, const std::vector<OutlinePoint>& points, std::string_view text) {
  run.said = play_ticks(points.size(), moves_for(text, run.key), run.ended);
  out.of = out.cards = static_cast<std::int64_t>(points.size());
  for (const double at : run.said) out.right += at <= (out.limit_s > 0 ? out.limit_s : at);
  out.told = out.right;
  out.ended = run.ended;
  out.score = 100 * static_cast<double>(out.right) / static_cast<double>(out.of);
  for (const OutlinePoint& p : points) run.say.push_back(p.say);
}

std::string compute_design(const Inputs& in, const ScenarioDeck& deck, Outputs& out, Run& run) {
  run.design = pick_case(deck.designs, in);
  if (!run.design) return "There is no design case: put one into assets/scenarios.";
  run.key = key_of(in, run.design->id);
  out.what = run.design->title;
  out.limit_s = in.design_s;
  DrillLabs labs;
  for (const DesignFigure& f : run.design->figures) {
    auto row = figure_row(f, labs);
    if (!row) return row.error;
    out.figures.push_back(std::move(*row));
  }
  count_points(out, run, run.design->points, in.moves);
  for (std::string& say : run.say) say = filled(std::move(say), run.design->figures, out.figures);
  out.point_s = out.limit_s / static_cast<double>(out.of);
  return {};
}

std::string compute_pitch(const Inputs& in, const ScenarioDeck& deck, Outputs& out, Run& run) {
  run.pitch = pick_case(deck.pitches, in);
  if (!run.pitch) return "There is no pitch: put one into assets/scenarios.";
  run.key = key_of(in, run.pitch->id);
  out.what = run.pitch->title;
  out.limit_s = run.pitch->seconds();
  count_points(out, run, run.pitch->points, in.moves);
  out.point_s = out.limit_s / static_cast<double>(out.of);
  out.words = out.limit_s / 60 * in.words_per_min;
  return {};
}

}  // namespace

chapters::Computed<Outputs, Run> compute(const Inputs& in, Progress&) {
  Outputs out;
  const auto run = std::make_shared<Run>();
  run->kind = in.kind;
  const ScenarioDeck& deck = scenario_deck();
  constexpr std::array how{compute_board, compute_branching, compute_design, compute_pitch};
  out.reason = how[static_cast<std::size_t>(in.kind)](in, deck, out, *run);
  if (!out.reason.empty()) {
    Outputs none;
    none.reason = std::move(out.reason);
    return {std::move(none)};
  }
  for (const Choice& topic : deck.topics)
    if (topic.id == in.topic) out.topic_now = topic.label;
  const std::vector<Move> moves = moves_for(in.moves, run->key);
  if (!moves.empty() && !(in.kind == ScenarioKind::board && out.ended)) out.elapsed_s = moves.back().at_s;
  out.state = out.ended ? "ended" : moves.empty() ? "not begun" : "in hand";
  out.moves_left_out = !in.moves.empty() && moves.empty();
  if (out.left_over.empty()) out.left_over = "known at the end";
  if (out.best_first.empty()) out.best_first = "known at the end";
  out.kept = static_cast<std::int64_t>(in.history.size());
  double sum = 0;
  for (const ScenarioRecord& r : in.history) sum += scenario_share(r);
  if (out.kept > 0) out.kept_score = 100 * sum / static_cast<double>(out.kept);
  return {std::move(out), run};
}

}  // namespace chapters::interview::scenarios
