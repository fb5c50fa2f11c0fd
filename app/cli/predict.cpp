#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <iostream>
#include <numeric>
#include <optional>
#include <random>

#include "app/cli/cli.h"
#include "app/content/questions.h"
#include "app/content/slips.h"
#include "app/scenario/sentences.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/estimate.h"

namespace app::cli {
namespace {

std::optional<std::size_t> whole(const std::string& text, std::size_t lo, std::size_t hi) {
  std::size_t v = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), v);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || v < lo || v > hi) return {};
  return v;
}

/// A question with what its lab computes.
struct Asked {
  const Prediction& question;
  chapters::LabPtr lab;
  const chapters::Field& output;
  QuestionKind kind;
  std::vector<std::string> choices;
  double computed;
};

/// What was said: a number in the SI unit, or the index of an option, and what it was taken for where that is not
/// plain.
struct Said {
  double value = 0;
  std::string taken;
};

/// The option whose figure a typed quantity is, so that "4" among 4, 8, 16 and 32 is four and not the last of them.
std::optional<std::size_t> option_of_quantity(const Asked& a, const std::string& text) {
  const auto typed = widgets::parse_estimate(text, a.output.spec.unit);
  if (!typed.error.empty()) return {};
  for (std::size_t i = 0; i < a.question.options.size(); ++i)
    if (std::abs(a.question.options[i] - typed.value) <= 1e-9 * std::abs(typed.value)) return i;
  return {};
}

/// An option is named by its label or its id, by its figure, or at last by its place from 1 on.
models::Result<Said> read_answer(const Asked& a, const std::string& text) {
  using Read = models::Result<Said>;
  if (a.kind == QuestionKind::number) {
    const auto parsed = widgets::parse_estimate(text, a.output.spec.unit);
    return parsed.error.empty() ? Read::ok({parsed.value, {}}) : Read::fail(parsed.error);
  }
  for (std::size_t i = 0; i < a.choices.size(); ++i) {
    const bool by_id = a.question.options.empty() && a.output.options && (*a.output.options)[i].id == text;
    if (by_id || a.choices[i] == text) return Read::ok({static_cast<double>(i), {}});
  }
  if (const auto i = option_of_quantity(a, text))
    return Read::ok({static_cast<double>(*i), "Taken as the figure " + a.choices[*i] + "."});
  if (const auto place = whole(text, 1, a.choices.size()))
    return Read::ok({static_cast<double>(*place - 1),
                     "Taken as option number " + std::to_string(*place) + ", " + a.choices[*place - 1] + "."});
  return Read::fail("\"" + excerpt(text) + "\" is no option: " + sentence_list(a.choices) + ", or its number.");
}

/// Grades and keeps an answer, and says so.
bool mark(const Asked& a, double said, Workspace& w, std::ostream& out) {
  const bool number = a.kind == QuestionKind::number;
  const double computed = number ? a.computed : static_cast<double>(right_choice(a.question, a.computed));
  const double gap = computed != 0 ? (said - computed) / std::abs(computed) : said;
  const bool close = number ? std::abs(gap) <= a.question.tolerance : said == computed;
  const auto shown = [&](double v) {
    const auto prefix = a.output.spec.binary ? widgets::Prefix::binary : widgets::Prefix::si;
    return number ? widgets::format_text(v, a.output.spec.unit, 4, prefix) : a.choices[static_cast<std::size_t>(v)];
  };
  out << verdict_text(close, shown(said), shown(computed), number ? gap_text(said, computed) : std::string()) << "\n";
  if (const auto slip = slip_of(a.question, a.kind, said, computed); !slip.empty()) out << slip << " ";
  const auto now = static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  const std::string lab(a.lab->info().id);
  w.progress.predict(lab, {a.question.id, said, computed, static_cast<std::int64_t>(now)});
  w.learner.keep_prediction({lab, a.question.id, said, computed, close, now});
  return close;
}

std::optional<Asked> asked(const Prediction& q, std::string_view id) {
  auto lab = asked_lab(q, id);
  const chapters::Field* output = lab ? lab->outputs().find(q.output) : nullptr;
  if (!output) return {};
  const QuestionKind kind = kind_of(q, *output);
  if (kind != QuestionKind::curve) lab->compute_facts();
  const double computed = kind == QuestionKind::curve ? 0 : reading(*lab, q.output);
  if (!std::isfinite(computed)) return {};
  auto choices = choices_of(q, *output);
  return Asked{q, std::move(lab), *output, kind, std::move(choices), computed};
}

void put(const Asked& a, std::size_t number, std::size_t of, std::ostream& out) {
  out << "\nQuestion " << number << " of " << of << "\n" << a.question.question << "\n";
  for (std::size_t i = 0; i < a.choices.size(); ++i) out << "  " << i + 1 << ") " << a.choices[i] << "\n";
  if (a.kind == QuestionKind::number)
    out << "  [" << (a.output.spec.unit.empty() ? std::string_view("a number") : a.output.spec.unit) << "]\n";
}

/// The numbers of the questions to ask, from 0: the one that was named, or all but those for a curve.
models::Result<std::vector<std::size_t>> questions_to_ask(const Arguments& a,
                                                          const std::vector<Prediction>& questions) {
  using Order = models::Result<std::vector<std::size_t>>;
  if (a.has("--question")) {
    const auto number = whole(a.value("--question"), 1, questions.size());
    if (number) return Order::ok({*number - 1});
    return Order::fail("--question is \"" + excerpt(a.value("--question")) + "\": " + a.words[0] + " asks " +
                       std::to_string(questions.size()) + ", counted from 1.");
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (!questions[i].curve) order.push_back(i);
  if (a.has("--seed")) {
    const auto seed = whole(a.value("--seed"), 0, 1'000'000'000);
    if (!seed)
      return Order::fail("--seed is \"" + excerpt(a.value("--seed")) +
                         "\": a whole number from 0 to 1,000,000,000 is expected.");
    std::mt19937_64 random(*seed);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  }
  if (a.has("--answer")) order.resize(std::min<std::size_t>(order.size(), 1));
  return Order::ok(std::move(order));
}

/// How many questions were answered, and how many of the answers were close.
struct Score {
  std::size_t answered = 0, close = 0;
};

/// Puts one question until it is answered or passed on. False when the learner ends the round. Fails for an answer on
/// the command line that cannot be read.
models::Result<bool> answer_one(const Asked& q, const Arguments& a, const Streams& s, Workspace& w, Score& score) {
  using GoesOn = models::Result<bool>;
  std::istream& in = s.in ? *s.in : std::cin;
  while (true) {
    std::string line = a.value("--answer");
    if (!a.has("--answer")) {
      s.out << "> " << std::flush;
      if (!std::getline(in, line) || line == "quit" || line == "q") return GoesOn::ok(false);
      if (!line.empty() && line.back() == '\r') line.pop_back();
    }
    if (line.find_first_not_of(" \t") == std::string::npos) return GoesOn::ok(true);  // an empty line passes on
    const auto said = read_answer(q, line.substr(0, 200));
    if (said) {
      if (!said->taken.empty()) s.out << said->taken << "\n";
      score.close += mark(q, said->value, w, s.out);
      s.out << explained(q.question, *q.lab) << "\n";
      ++score.answered;
      return GoesOn::ok(true);
    }
    if (a.has("--answer")) return GoesOn::fail(said.error);
    s.out << said.error << "\n";
  }
}

}  // namespace

int predict(const Arguments& a, const Streams& s) {
  if (a.words.empty()) return complain(s, "predict needs a lab: ridgeline predict LAB; `ridgeline list` names all.");
  const std::string& id = a.words[0];
  if (!chapters::has_lab(id)) return complain(s, unknown_lab(id));
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  Workspace w(load_content(*assets), user_paths());
  const auto& questions = w.content.of(id).predictions;
  if (questions.empty()) return complain(s, id + " asks nothing: another lab does.");
  const auto order = questions_to_ask(a, questions);
  if (!order) return complain(s, order.error);
  if (a.has("--question") && questions[order->front()].curve) {
    s.out << questions[order->front()].question << "\nA curve is drawn in the window: `ridgeline " << id
          << "`, then Predict.\n";
    return a.has("--answer") ? complain(s, "A curve cannot be answered in the terminal: draw it in the window.") : 0;
  }
  Score score;
  for (const std::size_t i : *order) {
    const auto q = asked(questions[i], id);
    if (!q) return complain(s, "Question " + questions[i].id + " is broken: run `ridgeline check`.");
    put(*q, i + 1, questions.size(), s.out);
    const auto goes_on = answer_one(*q, a, s, w, score);
    if (!goes_on) return complain(s, goes_on.error);
    if (!*goes_on) break;
  }
  w.save();
  for (const auto& message : w.messages()) s.error << message.text << "\n";
  const auto curves =
      std::count_if(questions.begin(), questions.end(), [](const auto& q) { return q.curve.has_value(); });
  s.out << "\n" << score.close << " of " << score.answered << " close.";
  if (curves > 0 && !a.has("--question"))
    s.out << " " << curves << (curves == 1 ? " more asks for a curve, which is" : " more ask for curves, which are")
          << " drawn in the window: ridgeline " << id << ".";
  s.out << "\n";
  return 0;
}

}  // namespace app::cli
