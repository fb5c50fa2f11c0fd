#include <chrono>
#include <nlohmann/json.hpp>

#include "app/workspace/kept_rows.h"
#include "app/workspace/workspace.h"
#include "chapters/mechanism/catalog.h"

/// What the learner did, between the labs that show it and the disk.
namespace app {

using chapters::Field;

void Workspace::fill_personal() {
  for (const Field& f : lab().inputs()) {
    if (f.spec.origin == chapters::Origin::kept) say_failure(fill_from_kept(f, kept));
    if (f.spec.origin == chapters::Origin::clock)
      f.set_number(static_cast<double>(
          std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
              .count()));
  }
}

void Workspace::gather_kept() {
  bool more = false;
  for (const Field& f : lab().inputs())
    if (f.spec.origin == chapters::Origin::kept) more = add_to_kept(f, kept) || more;
  if (!more) return;
  find_drilled();
  save_kept();
}

void Workspace::find_drilled() {
  drills_on_.clear();
  drilled_.clear();
  for (const auto& drill : chapters::catalog().drills) drills_on_.insert(drill.lab);
  const auto history = kept.tables.find("drill.history");
  if (history == kept.tables.end()) return;
  for (const std::string& row : history->second) {
    const Json record = parse_own_json(row);
    const auto right = record.find("right"), id = record.find("drill");
    if (right == record.end() || id == record.end() || !id->is_string() || *right != Json(true)) continue;
    for (const auto& drill : chapters::catalog().drills)
      if (drill.id == id->get<std::string>()) drilled_.insert(drill.lab);
  }
}

void Workspace::keep_prediction(chapters::PredictionRecord record) {
  chapters::Fields cells;
  describe(cells, record);
  if (keep_row(cells, chapters::predictions_table, kept)) save_kept();
}

void Workspace::keep_curve(chapters::CurveRecord record) {
  chapters::Fields cells;
  describe(cells, record);
  if (keep_row(cells, chapters::curves_table, kept)) save_kept();
}

void Workspace::save_kept() {
  if (user_) say_if_any(kept_.save(user_->data / "kept.json"));
}

}  // namespace app
