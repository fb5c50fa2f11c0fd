#include <algorithm>
#include <cmath>

#include "chapters/interview/scenarios/lab.h"
#include "widgets/number/number.h"

namespace chapters::interview::scenarios {
namespace {

std::string minutes_words(double minutes) { return widgets::format_text(minutes, "min", 3); }

/// All right threads.
std::vector<Thread> solution_of(const ScenarioBoard& board) {
  std::vector<Thread> out;
  for (std::size_t column = 0; column + 1 < board_columns; ++column)
    for (std::size_t from = 0; from < board.order[column].size(); ++from)
      for (std::size_t to = 0; to < board.order[column + 1].size(); ++to)
        if (board.order[column][from] == board.order[column + 1][to]) out.push_back({column, from, to, true});
  return out;
}

void arrange_board(const Inputs& in, const Outputs& out, const Run& run, Picture& picture) {
  if (in.reveal || out.ended) picture.solution = solution_of(run.board);
  for (const SymptomCase* c : run.board.cases) picture.seconds_line.push_back(c->tell + ": " + c->reads);
  picture.why = why_wrong(run);
  picture.notes.push_back(widgets::format_text(static_cast<double>(out.right), "", 4) + " of " +
                          widgets::format_text(static_cast<double>(out.of), "", 4) + " threads right");
  if (out.wrong > 0)
    picture.notes.push_back(widgets::format_text(static_cast<double>(out.wrong), "", 4) + " wrong so far");
  // The case that took longest on the clock.
  const auto& took = run.play.seconds_of;
  const auto slowest = std::max_element(took.begin(), took.end());
  if (slowest != took.end() && *slowest > 0)
    picture.notes.push_back("Slowest: " + run.board.cases[static_cast<std::size_t>(slowest - took.begin())]->seen +
                            ", " + widgets::format_text(*slowest, "s", 2));
  picture.link = picture.why.here ? picture.why.here->lab : std::string();
}

void arrange_branching(const Outputs& out, const Run& run, Picture& picture) {
  const BranchingCase& c = *run.branching;
  picture.title = c.title;
  picture.heading = c.symptom;
  picture.link = c.lab;
  double sum = 0;
  for (const BranchingCause& cause : c.causes) sum += cause.weight;
  for (const BranchingCause& cause : c.causes) {
    const double part = cause.weight / sum;
    picture.lanes.push_back({cause.name, widgets::format_text(100 * part, "%", 2), part});
    picture.most_part = std::max(picture.most_part, part);
  }
  for (std::size_t k = 0; k < c.checks.size(); ++k) {
    CheckCard card{c.checks[k].name, minutes_words(run.tree.checks[k].minutes), {}};
    for (const RanCheck& r : run.tree_play.ran)
      if (r.check == k) card.says = c.checks[k].outcomes[static_cast<std::size_t>(r.outcome)].says;
    picture.check_cards.push_back(std::move(card));
  }
  picture.longest_min = std::max({out.spent_minutes * 1.05, run.best.minutes.back() * 1.6, 1.0});
  if (!out.ended && std::isnan(out.best_here_minutes)) return;
  picture.best_here = out.best_here_minutes;
  picture.longest_min = std::max(picture.longest_min, out.best_here_minutes * 1.05);
  for (const int k : run.path)
    picture.ghost.push_back(c.checks[static_cast<std::size_t>(k)].name + ", " +
                            minutes_words(run.tree.checks[static_cast<std::size_t>(k)].minutes));
}

/// What a point should hold is the answer: it opens once the point was said. So does a figure that it names.
void open_what_was_said(const Inputs& in, const Outputs& out, const Run& run, Picture& picture) {
  const auto& points = run.design ? run.design->points : run.pitch->points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    picture.open_points.push_back(out.ended || in.reveal || std::isfinite(run.said[i]));
    picture.heads.push_back(picture.open_points[i] ? points[i].head : "Point " + std::to_string(i + 1));
  }
  if (!run.design) return;
  for (const DesignFigure& f : run.design->figures) {
    bool open = out.ended || in.reveal;
    for (std::size_t i = 0; i < points.size(); ++i)
      open |= picture.open_points[i] && points[i].say.find("{" + f.id + "}") != std::string::npos;
    picture.open_figures.push_back(open);
  }
}

void arrange_points(const Inputs& in, const Outputs& out, const Run& run, Picture& picture) {
  picture.title = run.design ? run.design->title : run.pitch->title;
  picture.heading = run.design ? run.design->ask : run.pitch->ask;
  if (run.pitch) picture.link = run.pitch->lab;
  const auto& points = run.design ? run.design->points : run.pitch->points;
  for (const OutlinePoint& p : points)
    picture.point_times.push_back(p.seconds > 0 ? widgets::format_text(p.seconds, "s", 3) : std::string());
  open_what_was_said(in, out, run, picture);
  picture.notes.push_back(widgets::format_text(static_cast<double>(out.right), "", 4) + " of " +
                          widgets::format_text(static_cast<double>(out.of), "", 4) + " said");
}

}  // namespace

WhyWrong why_wrong(const Run& run) {
  WhyWrong why;
  const auto& threads = run.play.threads;
  const auto wrong = std::find_if(threads.rbegin(), threads.rend(), [](const Thread& t) { return !t.right; });
  if (wrong == threads.rend()) return why;
  const SymptomCase& from = run.board.case_at(static_cast<BoardColumn>(wrong->column), wrong->from);
  const SymptomCase& to = run.board.case_at(static_cast<BoardColumn>(wrong->column + 1), wrong->to);
  if (wrong->column == 0) {
    why.title = "Not this: " + to.cause;
    why.says = to.would + " " + from.here;
    why.here = &from;
    why.would = &to;
  } else if (wrong->column == 1) {
    why.title = "Does not prove it";
    why.says = "Whether it is \"" + from.cause + "\" shows here: " + from.look +
               ". This reading is of something else: " + to.look + ".";
    why.here = &from;
  } else {
    why.title = "Does not mend it";
    why.says = "This fix changes " + to.changes + ". What \"" + from.evidence +
               "\" proves asks for a change of something else.";
    why.here = &from;
  }
  return why;
}

Picture arrange(const Inputs& in, const Outputs& out, const Run& run) {
  Picture picture;
  // Asked before anything was computed there is neither a board nor a case.
  if (!out.reason.empty() || run.key.empty() || run.kind != in.kind) return picture;
  if (in.kind == ScenarioKind::board)
    arrange_board(in, out, run, picture);
  else if (in.kind == ScenarioKind::branching)
    arrange_branching(out, run, picture);
  else
    arrange_points(in, out, run, picture);
  picture.answer = answer_of(in, out, run, picture.why);
  return picture;
}

}  // namespace chapters::interview::scenarios
