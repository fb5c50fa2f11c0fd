#include "app/workspace/learner.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/scenario/scenario.h"
#include "app/workspace/kept_rows.h"
#include "app/workspace/opened_labs.h"
#include "chapters/mechanism/catalog.h"

namespace app {

using chapters::Field;

std::size_t Learner::answered_questions(std::string_view lab) const {
  const auto& questions = content_.of(lab).predictions;
  return static_cast<std::size_t>(std::count_if(questions.begin(), questions.end(), [&](const Prediction& q) {
    return documents_.progress.value.latest(lab, q.id) != nullptr;
  }));
}

store::Quarters Learner::quarters(std::string_view lab) const {
  std::optional<bool> answered, drilled;
  const auto& labs = documents_.progress.value.labs;
  // The rail asks this of every lab in every frame, and most of them have answered nothing.
  if (const auto known = labs.find(lab); known != labs.end())
    if (const std::size_t questions = content_.of(lab).predictions.size(); questions > 0)
      answered = !known->second.predictions.empty() && answered_questions(lab) == questions;
  if (drills_on_.contains(lab)) drilled = drilled_.contains(lab);
  return documents_.progress.value.quarters(lab, answered, drilled);
}

models::Status Learner::fill(const Field& input) const {
  const auto now_s = static_cast<double>(
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count());
  if (input.spec.origin == chapters::Origin::clock) input.set_number(now_s);
  if (input.spec.origin != chapters::Origin::kept) return models::Status::ok();
  if (input.spec.shared != chapters::opened_table) return fill_from_kept(input, documents_.kept.value);
  fill_opened(input, documents_.progress.value, now_s);
  return models::Status::ok();
}

void Learner::fill(chapters::Lab& lab) {
  for (const Field& f : lab.inputs()) messages_.say_failure(fill(f));
}

void Learner::fill_in_silence(chapters::Lab& lab) const {
  for (const Field& f : lab.inputs()) (void)fill(f);  // whoever opens the lab is told
}

void Learner::gather(const chapters::Lab& lab) {
  bool more = false;
  for (const Field& f : lab.inputs())
    if (f.spec.origin == chapters::Origin::kept && f.spec.shared != chapters::opened_table)
      more = add_to_kept(f, documents_.kept.value) || more;
  if (!more) return;
  find_drilled();
  documents_.save_kept(messages_);
}

void Learner::find_drilled() {
  drills_on_.clear();
  drilled_.clear();
  for (const auto& drill : chapters::catalog().drills) drills_on_.insert(drill.lab);
  const auto& tables = documents_.kept.value.tables;
  const auto history = tables.find("drill.history");
  if (history == tables.end()) return;
  for (const std::string& row : history->second) {
    const Json record = parse_own_json(row);
    const auto right = record.find("right"), id = record.find("drill");
    if (right == record.end() || id == record.end() || !id->is_string() || *right != Json(true)) continue;
    for (const auto& drill : chapters::catalog().drills)
      if (drill.id == id->get<std::string>()) drilled_.insert(drill.lab);
  }
}

void Learner::keep_prediction(chapters::PredictionRecord record) {
  chapters::Fields cells;
  describe(cells, record);
  if (keep_row(cells, chapters::predictions_table, documents_.kept.value)) documents_.save_kept(messages_);
}

void Learner::keep_curve(chapters::CurveRecord record) {
  chapters::Fields cells;
  describe(cells, record);
  if (keep_row(cells, chapters::curves_table, documents_.kept.value)) documents_.save_kept(messages_);
}

}  // namespace app
