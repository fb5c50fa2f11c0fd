#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>

#include "app/cli/cli.h"
#include "app/platform/paths.h"
#include "app/scenario/sentences.h"
#include "app/workspace/kept_rows.h"
#include "app/workspace/opened_labs.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/practice/drill_history.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

std::optional<std::uint64_t> whole_number(const std::string& text, std::uint64_t lo, std::uint64_t hi) {
  std::uint64_t v = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), v);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || v < lo || v > hi) return {};
  return v;
}

/// Seconds to answer, 0 without a clock; nothing when the option says neither.
std::optional<double> clock_s(const std::string& text) {
  if (text == "none" || text == "0") return 0;
  if (text == "120" || text == "two_minutes") return 120;
  if (text == "60" || text == "sixty_seconds") return 60;
  return {};
}

std::string days_text(std::int64_t days) {
  return days == 0 ? "" : ", " + std::to_string(days) + (days == 1 ? " day" : " days") + " in a row";
}

const char* verdict_word(const chapters::DrillMark& mark) {
  return mark.right ? "right: " : mark.near ? "near: " : mark.late ? "late: " : "wrong: ";
}
std::string near_text(std::size_t near) {
  return " and " + std::to_string(near) + (near == 1 ? " near, which counts half" : " near, which count half each");
}

double unix_now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// The learner's answers on disk; without a home directory nothing is kept.
class History {
 public:
  explicit History(std::ostream& notices) : paths_(user_paths()) {
    const chapters::Field& table = described();
    if (!paths_) return;
    const auto report = store::load(paths_->data / "kept.json", kept_);
    may_save_ = report.may_save();
    if (!report.notice.empty()) notices << report.notice << "\n";
    if (const auto filled = fill_from_kept(table, kept_); !filled) notices << filled.error << "\n";
    store::Progress progress;
    if (const auto read = store::load(paths_->data / "progress.json", progress); !read.notice.empty())
      notices << read.notice << "\n";
    opened_ = opened_labs(progress, unix_now_s());
  }
  std::vector<chapters::DrillRecord> records;

  /// From which chapters the learner is asked now.
  chapters::DrillScope scope(double now_s) const {
    return chapters::scope_of(chapters::catalog().drills, opened_, now_s);
  }

  /// Returns what is to be said about saving it, mostly nothing.
  std::string add(const chapters::DrillRecord& record) {
    chapters::add_record(records, record);
    if (!may_save_ || !add_to_kept(described(), kept_)) return {};
    return store::save(paths_->data / "kept.json", kept_).notice;
  }

 private:
  const chapters::Field& described() {
    fields_.clear();
    fields_.table(
        "history", records, "Your answers",
        {.shared = "drill.history", .max_items = chapters::max_drill_records, .origin = chapters::Origin::kept});
    return fields_.all().front();
  }
  models::Result<UserPaths> paths_;
  store::Kept kept_;
  std::vector<chapters::OpenedLab> opened_;
  chapters::Fields fields_;
  bool may_save_ = false;
};

models::Status check_topic(const std::string& topic) {
  std::vector<std::string> ids;
  for (const auto& t : chapters::catalog().drill_topics) ids.push_back(t.id);
  for (const auto& id : ids)
    if (id == topic) return models::Status::ok();
  const auto guess = did_you_mean(topic, ids);
  return models::Status::fail("There is no topic \"" + excerpt(topic) + "\"" +
                              (guess.empty() ? ". " : ": " + guess + " ") + "Topics are " + sentence_list(ids, 40) +
                              ".");
}

/// What the command line asks for.
struct DrillCall {
  std::string topic;
  bool today = false;
  std::uint64_t count = 0, level = 0, seed = 0;
  bool reproducible = false;  ///< a seed was given: then what was answered before today does not choose the questions
  double limit_s = 0;
};

models::Result<DrillCall> read_options(const Arguments& a) {
  using Read = models::Result<DrillCall>;
  const auto refuse = [&](const char* option, const std::string& expected) {
    return Read::fail(std::string(option) + " is \"" + a.value(option).substr(0, 60) + "\": " + expected);
  };
  const bool today = a.has("--today");
  const auto count = whole_number(a.value("--count", today ? "1" : "10"), 1, 1000);
  if (!count) return refuse("--count", "a whole number from 1 to 1,000 is expected.");
  const auto seed = whole_number(a.value("--seed", "0"), 0, 1'000'000'000);
  if (!seed) return refuse("--seed", "a whole number from 0 to 1,000,000,000 is expected.");
  const auto level = whole_number(a.value("--level", "0"), 0, chapters::drill_levels);
  if (!level)
    return refuse("--level", "a whole number from 1 to " + std::to_string(chapters::drill_levels) +
                                 " is expected, or 0 to follow your answers.");
  const auto limit_s = clock_s(a.value("--clock", "none"));
  if (!limit_s) return refuse("--clock", "120 (two minutes), 60 (sixty seconds) or none is expected.");
  if (today && (a.has("--seed") || a.has("--topic") || a.has("--level") || a.has("--count")))
    return Read::fail(
        "--today asks one question, from the chapters that you opened: leave --topic, --seed, --count and --level "
        "away.");
  if (chapters::catalog().drills.empty())
    return Read::fail("No drills were found: the folder drills of the assets holds them.");
  DrillCall asked{a.value("--topic", "weak"), today, *count, *level, *seed, a.has("--seed"), *limit_s};
  if (auto known = check_topic(asked.topic); !known) return Read::fail(std::move(known.error));
  return Read::ok(std::move(asked));
}

/// The questions of one call, one after the other.
class DrillRound {
 public:
  DrillRound(const DrillCall& asked, History& kept, const Streams& s)
      : asked_(asked), kept_(kept), s_(s), in_(s.in ? *s.in : std::cin) {}

  /// Asks them all, or until the person has had enough. Fails where none can be dealt.
  models::Status run() {
    while (open_ && round_.size() < asked_.count) {
      const double now_s = unix_now_s();
      const auto dealt = deal(now_s);
      if (!dealt) return models::Status::fail(dealt.error);
      ask(*dealt);
      answer(*dealt, now_s);
    }
    return models::Status::ok();
  }
  /// "7 of 10 right and 1 near, which counts half".
  std::string score() const {
    return std::to_string(right_) + " of " + std::to_string(round_.size()) + " right" +
           (near_ > 0 ? near_text(near_) : std::string());
  }

 private:
  models::Result<chapters::DealtDrill> deal(double now_s) {
    const auto& history = asked_.reproducible ? round_ : kept_.records;
    const chapters::DrillScope scope = kept_.scope(now_s);
    return chapters::deal_drill(
        chapters::catalog().drills, history,
        {
            .topic = asked_.topic == "weak" ? std::string_view() : std::string_view(asked_.topic),
            .drill = asked_.today ? chapters::today_drill : std::string_view(),
            .level = static_cast<int>(asked_.level),
            .seed = asked_.reproducible ? asked_.seed : 1,
            .now_s = asked_.reproducible ? 0 : now_s,
            .in_round = round_.size(),
            .scope = asked_.reproducible ? nullptr : &scope,
        },
        labs_);
  }

  void ask(const chapters::DealtDrill& dealt) {
    const chapters::DrillChoice& pick = dealt.choice;
    s_.out << "\n"
           << round_.size() + 1 << " of " << asked_.count << "  " << pick.drill->topic_label << ", level "
           << pick.drill->level << " (" << pick.why << ")\n"
           << dealt.question.text << "\n  [" << dealt.question.unit_label
           << (asked_.limit_s > 0 ? ", within " + std::to_string(static_cast<int>(asked_.limit_s)) + " seconds"
                                  : std::string())
           << "]\n";
  }

  /// Reads lines until one can be graded, is empty, or ends the round.
  void answer(const chapters::DealtDrill& dealt, double now_s) {
    const auto began = std::chrono::steady_clock::now();
    for (std::string line;;) {
      s_.out << "> " << std::flush;
      if (!std::getline(in_, line) || line == "quit" || line == "q") {
        open_ = false;
        return;
      }
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const bool given = line.find_first_not_of(" \t") != std::string::npos;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      chapters::DrillMark mark;
      if (given) mark = chapters::grade(dealt.question, line.substr(0, 200), seconds, asked_.limit_s);
      if (given && !mark.read) {
        s_.out << mark.verdict << "\n";
        continue;
      }
      if (given)
        s_.out << verdict_word(mark) << mark.verdict << "\n";
      else
        s_.out << "it is " << widgets::format(dealt.question.answer, dealt.question.unit, 4).view() << ".\n";
      for (const auto& step : dealt.question.steps) s_.out << "  " << step << "\n";
      return keep({dealt.choice.drill->id, static_cast<std::int64_t>(dealt.choice.seed), mark.said, mark.right, seconds,
                   now_s, mark.near});
    }
  }

  void keep(const chapters::DrillRecord& record) {
    right_ += record.right;
    near_ += record.near;
    round_.push_back(record);
    if (const auto notice = kept_.add(record); !notice.empty()) s_.error << notice << "\n";
  }

  const DrillCall& asked_;
  History& kept_;
  const Streams& s_;
  std::istream& in_;
  std::vector<chapters::DrillRecord> round_;
  chapters::DrillLabs labs_;
  std::size_t right_ = 0, near_ = 0;
  bool open_ = true;
};

}  // namespace

int drill(const Arguments& a, const Streams& s) {
  const auto asked = read_options(a);
  if (!asked) return complain(s, asked.error);
  History kept(s.error);
  if (asked->today && chapters::daily_done(kept.records, unix_now_s())) {
    s.out << "Today's question is answered" << days_text(chapters::daily_streak(kept.records, unix_now_s()))
          << ". The next one comes at midnight UTC.\n";
    return 0;
  }
  s.out << "Answer with a number and its unit: 1.07 GB, 310ms, 43 %. An empty line shows the answer, \"quit\" ends.\n";
  DrillRound round(*asked, kept, s);
  if (const auto ran = round.run(); !ran) return complain(s, ran.error);
  s.out << "\n"
        << round.score()
        << (asked->today ? days_text(chapters::daily_streak(kept.records, unix_now_s())) : std::string()) << ".\n";
  return 0;
}

}  // namespace app::cli
