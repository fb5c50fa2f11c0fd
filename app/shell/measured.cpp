#include <cmath>
#include <cstdio>

#include "app/platform/json.h"
#include "app/shell/shell.h"
#include "app/shell/ui.h"
#include "widgets/number/number.h"

namespace app {
namespace {

constexpr widgets::TableColumn measured_columns[] = {
    {.title = "measured", .number = false},
    {.title = "figure", .priority = 1},
    {.title = "model", .priority = 2},
    {.title = "residual", .unit = "%", .priority = 0},
    {.title = "of the bound", .unit = "%", .priority = 3},
    {.title = "output", .number = false, .priority = 6},
    {.title = "date", .number = false, .priority = 5},
    {.title = "source", .number = false, .priority = 4},
};

void measured_cell(const void* context, std::size_t index, std::size_t column, widgets::TableCell& out) {
  const auto& [row, checked] = (*static_cast<const decltype(chapters::PublishedTable::rows)*>(context))[index];
  const auto percent = [&](double share) {
    out.value = 100 * share;
    if (std::isfinite(share)) out.number = widgets::format(std::round(1000 * share) / 10, "", 4);
  };
  switch (column) {
    case 0:
      out.text = row->name;
      return;
    case 1:
      out.value = row->measured;
      out.number = widgets::format(row->measured, row->unit, 4);
      return;
    case 2:
      if (!checked) return;
      out.value = checked->model;
      out.number = widgets::format(checked->model, row->unit, 4);
      return;
    case 3:
      if (!checked) return;
      percent(checked->residual);
      if (std::isnan(checked->residual)) out.text = "none";
      return;
    case 4:
      if (!checked) return;
      percent(checked->share);
      if (std::isnan(checked->share)) out.text = "none";
      return;
    case 5:
      out.text = row->output;
      return;
    case 6:
      out.text = row->date;
      return;
    default:
      out.text = row->source;
      return;
  }
}

/// A bound is hollow and a measurement filled wherever they are drawn; the table's own mark is the measurement's.
widgets::RowMark measured_mark(const void*, std::size_t) { return {widgets::Marker::diamond, theme().text}; }

std::string_view role_sentence(chapters::ModelRole role) {
  switch (role) {
    case chapters::ModelRole::ceiling:
      return "The model is the most that can be reached.";
    case chapters::ModelRole::floor:
      return "The model is the least that it can take.";
    case chapters::ModelRole::beside:
      return "The model computes another quantity: the two stand side by side, and there is no residual.";
    case chapters::ModelRole::estimate:
      break;
  }
  return "The model is an estimate of this figure.";
}

void draw_chosen(Shell& shell, const chapters::Published& row, const models::Result<CheckedPublished>& checked) {
  const auto& t = theme();
  ui::spacing(4);
  ui::wrapped(row.name, t.text);
  ui::wrapped(row.source, t.text, Type::small);
  if (!row.url.empty()) ui::wrapped(row.url, t.muted, Type::small);
  ui::wrapped(role_sentence(row.role), t.muted, Type::small);
  if (!row.note.empty()) ui::wrapped(row.note, t.text, Type::small);
  if (!row.beats.empty()) ui::wrapped(row.beats, t.warning, Type::small);
  const std::string_view fault = checked ? std::string_view(checked->fault) : std::string_view(checked.error);
  if (!fault.empty()) ui::wrapped(fault, t.warning, Type::small);
  if (!ui::button("See it in the lab")) return;
  shell.workspace.progress.explore(row.lab);
  shell.workspace.say_failure(shell.workspace.open_with(row.lab, parse_own_json(row.set), Json::object()));
}

}  // namespace

void draw_measured(Shell& shell) {
  const auto& t = theme();
  if (question_open(shell)) return ui::text("Veiled until you commit to an answer.", t.muted);
  FigureTables& figures_of = shell.workspace.figures;
  const std::string_view lab = shell.workspace.lab().info().id;
  if (figures_of.count(lab) == 0) return ui::text("No published measurement is recorded for this lab.", t.muted);
  const chapters::PublishedTable* const table = figures_of.of(lab);
  if (!table) {
    shell.animating = true;
    return ui::working("The model's figure of each measurement is being computed.", figures_of.fraction());
  }
  const auto& figures = table->rows;
  auto& state = shell.measured;
  if (state.lab != lab || state.of != figures.data()) {
    state.lab = lab;
    state.of = figures.data();
    state.table = {};
    ++state.version;
  }
  ui::wrapped(
      "What people measured and published, next to what this lab computes on the same inputs. "
      "Residual = (measured - model) / model; of a bound it is what is missing of it, for rates and times alike. "
      "Choose a row for its source.",
      t.muted, Type::small);
  if (state.table.selected >= 0 && static_cast<std::size_t>(state.table.selected) < figures.size()) {
    const auto& [row, checked] = figures[static_cast<std::size_t>(state.table.selected)];
    draw_chosen(shell, *row, checked);
    ui::spacing(6);
  }
  const widgets::TableSource source{.context = &figures,
                                    .rows = figures.size(),
                                    .version = state.version,
                                    .cell = measured_cell,
                                    .mark = measured_mark};
  widgets::draw_table("published measurements", measured_columns, source, state.table);
}

}  // namespace app
