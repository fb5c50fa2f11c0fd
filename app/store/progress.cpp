#include "app/store/progress.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>

#include "app/store/read.h"

namespace app::store {
namespace {

using nlohmann::json;
constexpr int progress_version = 1;

LabProgress& lab_of(Progress& progress, std::string_view lab) {
  const auto found = progress.labs.find(lab);
  return found != progress.labs.end() ? found->second : progress.labs[std::string(lab)];
}

auto order(const Prediction& p) { return std::tie(p.time_unix_s, p.question, p.committed, p.answer); }

void insert(std::vector<Prediction>& sorted, const Prediction& prediction) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), prediction,
                                   [](const Prediction& a, const Prediction& b) { return order(a) < order(b); });
  if (at == sorted.end() || *at != prediction) sorted.insert(at, prediction);
}

void take_tests(Reader& top, std::string& fault, Progress& progress) {
  for (const json& item : top.array("tests")) {
    TestResult result;
    const bool whole = take_item(item, "tests", fault, [&](Reader& fields) {
      fields.text("chapter", result.chapter);
      fields.integer("time_unix_s", result.time_unix_s);
      fields.integer("right", result.right);
      fields.integer("near", result.near);
      fields.integer("asked", result.asked);
    });
    if (whole) progress.keep_test(result);
  }
}

models::Status take(const json& content, Progress& progress) {
  std::string fault;
  Reader top(content, "", fault);
  top.texts("lessons", progress.lessons);
  take_tests(top, fault, progress);
  for (const auto& [id, entry] : top.object("labs").items()) {
    const std::string where = "labs." + id;
    Reader reader(entry, where, fault);
    LabProgress lab;
    reader.flag("visited", lab.visited);
    reader.integer("opened_unix_s", lab.opened_unix_s);
    reader.flag("explored", lab.explored);
    reader.texts("presets", lab.presets);
    reader.number("spent_s", lab.spent_s);
    for (const json& item : reader.array("predictions")) {
      Prediction prediction;
      const bool whole = take_item(item, where + ".predictions", fault, [&](Reader& fields) {
        fields.text("question", prediction.question);
        fields.number("committed", prediction.committed);
        fields.number("answer", prediction.answer);
        fields.integer("time_unix_s", prediction.time_unix_s);
      });
      if (whole) insert(lab.predictions, prediction);
    }
    Progress one;
    one.labs[id] = std::move(lab);
    progress.merge(one);
  }
  return {std::move(fault)};
}

void write(json& content, const Progress& progress) {
  content["lessons"] = progress.lessons;
  json& tests = content["tests"] = json::array();
  for (const TestResult& t : progress.tests)
    tests.push_back({{"chapter", t.chapter},
                     {"time_unix_s", t.time_unix_s},
                     {"right", t.right},
                     {"near", t.near},
                     {"asked", t.asked}});
  json& labs = content["labs"] = json::object();
  for (const auto& [id, lab] : progress.labs) {
    json predictions = json::array();
    for (const Prediction& p : lab.predictions)
      predictions.push_back(
          {{"question", p.question}, {"committed", p.committed}, {"answer", p.answer}, {"time_unix_s", p.time_unix_s}});
    labs[id] = {{"visited", lab.visited},   {"opened_unix_s", lab.opened_unix_s},
                {"explored", lab.explored}, {"presets", lab.presets},
                {"spent_s", lab.spent_s},   {"predictions", std::move(predictions)}};
  }
}

}  // namespace

void Progress::visit(std::string_view id, std::int64_t time_unix_s) {
  LabProgress& lab = lab_of(*this, id);
  if (!lab.visited) lab.opened_unix_s = time_unix_s;
  lab.visited = true;
}
void Progress::explore(std::string_view lab) { lab_of(*this, lab).explored = true; }
void Progress::try_preset(std::string_view lab, std::string_view preset) { lab_of(*this, lab).presets.emplace(preset); }
void Progress::predict(std::string_view lab, const Prediction& prediction) {
  if (std::isfinite(prediction.committed) && std::isfinite(prediction.answer))
    insert(lab_of(*this, lab).predictions, prediction);
}
void Progress::play_lesson(std::string_view lesson) { lessons.emplace(lesson); }

void Progress::keep_test(const TestResult& result) {
  const auto key = [](const TestResult& t) { return std::tie(t.time_unix_s, t.chapter, t.right, t.near, t.asked); };
  const auto at = std::lower_bound(tests.begin(), tests.end(), result,
                                   [&](const TestResult& a, const TestResult& b) { return key(a) < key(b); });
  if (at == tests.end() || *at != result) tests.insert(at, result);
}

const TestResult* Progress::latest_test(std::string_view chapter) const {
  const auto at = std::find_if(tests.rbegin(), tests.rend(), [&](const TestResult& t) { return t.chapter == chapter; });
  return at == tests.rend() ? nullptr : &*at;
}

void Progress::spend(std::string_view lab, double seconds) { lab_of(*this, lab).spent_s += seconds; }

double Progress::spent_s() const {
  double sum = 0;
  for (const auto& [id, lab] : labs) sum += lab.spent_s;
  return sum;
}

const Prediction* Progress::latest(std::string_view lab, std::string_view question) const {
  const auto found = labs.find(lab);
  if (found == labs.end()) return nullptr;
  const auto& all = found->second.predictions;
  const auto at = std::find_if(all.rbegin(), all.rend(), [&](const Prediction& p) { return p.question == question; });
  return at == all.rend() ? nullptr : &*at;
}

void Progress::merge(const Progress& other) {
  lessons.insert(other.lessons.begin(), other.lessons.end());
  for (const TestResult& test : other.tests) keep_test(test);
  for (const auto& [id, theirs] : other.labs) {
    LabProgress& ours = labs[id];
    if (theirs.visited)
      ours.opened_unix_s = ours.visited ? std::min(ours.opened_unix_s, theirs.opened_unix_s) : theirs.opened_unix_s;
    ours.visited = ours.visited || theirs.visited;
    ours.explored = ours.explored || theirs.explored;
    ours.presets.insert(theirs.presets.begin(), theirs.presets.end());
    for (const Prediction& prediction : theirs.predictions) insert(ours.predictions, prediction);
    ours.spent_s = std::max(ours.spent_s, theirs.spent_s);
  }
}

Quarters Progress::quarters(std::string_view lab, std::optional<bool> answered, std::optional<bool> drilled) const {
  const auto found = labs.find(lab);
  const bool visited = found != labs.end() && found->second.visited;
  return {
      .opened = visited,
      .predicted = answered.value_or(visited),
      .explored = found != labs.end() && (found->second.explored || !found->second.presets.empty()),
      .drilled = drilled.value_or(visited),
  };
}

LoadReport load(const std::filesystem::path& path, Progress& progress) {
  return load_json(path, progress_version, [&](const json& content) { return take(content, progress); });
}

SaveReport save(const std::filesystem::path& path, Progress& progress) {
  return save_merged(
      path, progress_version, [&](const json& content) { return take(content, progress); },
      [&](json& content) { write(content, progress); });
}

models::Status replace(const std::filesystem::path& path, const Progress& progress) {
  json content = json::object();
  write(content, progress);
  return save_json(path, progress_version, content);
}

}  // namespace app::store
