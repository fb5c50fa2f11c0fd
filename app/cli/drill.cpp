#include <charconv>
#include <chrono>
#include <iostream>
#include <optional>

#include "app/cli/cli.h"
#include "app/platform/paths.h"
#include "app/scenario/sentences.h"
#include "app/workspace/kept_rows.h"
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
  }
  std::vector<chapters::DrillRecord> records;

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
        {.shared = "drill.history", .max_items = chapters::most_drill_records, .origin = chapters::Origin::kept});
    return fields_.all().front();
  }
  models::Result<UserPaths> paths_;
  store::Kept kept_;
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

}  // namespace

int drill(const Arguments& a, const Streams& s) {
  const std::string topic = a.value("--topic", "weak");
  const bool today = a.has("--today");
  const auto count = whole_number(a.value("--count", today ? "1" : "10"), 1, 1000);
  const auto limit_s = clock_s(a.value("--clock", "none"));
  const auto seed = whole_number(a.value("--seed", "0"), 0, 1'000'000'000);
  const auto level = whole_number(a.value("--level", "0"), 0, chapters::drill_levels);
  if (!count)
    return complain(
        s, "--count is \"" + a.value("--count").substr(0, 60) + "\": a whole number from 1 to 1,000 is expected.");
  if (!seed)
    return complain(s, "--seed is \"" + a.value("--seed").substr(0, 60) +
                           "\": a whole number from 0 to 1,000,000,000 is expected.");
  if (!level)
    return complain(s, "--level is \"" + a.value("--level").substr(0, 60) + "\": a whole number from 1 to " +
                           std::to_string(chapters::drill_levels) + " is expected, or 0 to follow your answers.");
  if (!limit_s)
    return complain(s, "--clock is \"" + a.value("--clock").substr(0, 60) +
                           "\": 120 (two minutes), 60 (sixty seconds) or none is expected.");
  if (today && (a.has("--seed") || a.has("--topic") || a.has("--level") || a.has("--count")))
    return complain(
        s, "--today asks one question, the same for everybody: leave --topic, --seed, --count and --level away.");
  const auto& catalog = chapters::catalog();
  if (catalog.drills.empty()) return complain(s, "No drills were found: the folder drills of the assets holds them.");
  if (const auto known = check_topic(topic); !known) return complain(s, known.error);

  History kept(s.error);
  std::istream& in = s.in ? *s.in : std::cin;
  std::vector<chapters::DrillRecord> round;
  chapters::DrillLabs labs;
  const bool reproducible = a.has("--seed");  // then what was answered before today does not choose the questions
  std::size_t right = 0, near = 0;
  bool open = true;
  if (today && chapters::daily_done(kept.records, unix_now_s())) {
    s.out << "Today's question is answered" << days_text(chapters::daily_streak(kept.records, unix_now_s()))
          << ". The next one comes at midnight UTC.\n";
    return 0;
  }
  s.out << "Answer with a number and its unit: 1.07 GB, 310ms, 43 %. An empty line shows the answer, \"quit\" ends.\n";
  while (open && round.size() < *count) {
    const double now_s = unix_now_s();
    const auto& history = reproducible ? round : kept.records;
    auto dealt = chapters::deal_drill(catalog.drills, history,
                                      {
                                          .topic = topic == "weak" ? std::string_view() : std::string_view(topic),
                                          .drill = today ? chapters::today_drill : std::string_view(),
                                          .level = static_cast<int>(*level),
                                          .seed = reproducible ? *seed : 1,
                                          .now_s = reproducible ? 0 : now_s,
                                          .in_round = round.size(),
                                      },
                                      labs);
    if (!dealt) return complain(s, dealt.error);
    const chapters::DrillChoice& pick = dealt->choice;
    const chapters::DrillQuestion& question = dealt->question;
    s.out << "\n"
          << round.size() + 1 << " of " << *count << "  " << pick.drill->topic_label << ", level " << pick.drill->level
          << " (" << pick.why << ")\n"
          << question.text << "\n  [" << question.unit_label
          << (*limit_s > 0 ? ", within " + std::to_string(static_cast<int>(*limit_s)) + " seconds" : std::string())
          << "]\n";
    const auto asked = std::chrono::steady_clock::now();
    for (bool answered = false; !answered;) {
      s.out << "> " << std::flush;
      std::string line;
      if (!std::getline(in, line) || line == "quit" || line == "q") {
        open = false;
        break;
      }
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const bool given = line.find_first_not_of(" \t") != std::string::npos;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked).count();
      chapters::DrillMark mark;
      if (given) {
        mark = chapters::grade(question, line.substr(0, 200), seconds, *limit_s);
        if (!mark.read) {
          s.out << mark.verdict << "\n";
          continue;
        }
        s.out << verdict_word(mark) << mark.verdict << "\n";
      } else {
        s.out << "it is " << widgets::format(question.answer, question.unit, 4).view() << ".\n";
      }
      for (const auto& step : question.steps) s.out << "  " << step << "\n";
      const chapters::DrillRecord record{
          pick.drill->id, static_cast<std::int64_t>(pick.seed), mark.said, mark.right, seconds, now_s, mark.near};
      right += mark.right;
      near += mark.near;
      round.push_back(record);
      if (const auto notice = kept.add(record); !notice.empty()) s.error << notice << "\n";
      answered = true;
    }
  }
  s.out << "\n"
        << right << " of " << round.size() << " right" << (near > 0 ? near_text(near) : std::string())
        << (today ? days_text(chapters::daily_streak(kept.records, unix_now_s())) : std::string()) << ".\n";
  return 0;
}

}  // namespace app::cli
