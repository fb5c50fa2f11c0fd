#include "chapters/mechanism/published_panel.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "chapters/mechanism/lab.h"
#include "widgets/number/number.h"

namespace chapters {
void set_published_inputs(const Fields& fields, const Published& row) {
  for (const PublishedInput& input : row.inputs) {
    const Field* f = fields.find(input.key);
    if (!f) continue;
    if (f->kind == Kind::choice)
      (void)f->set_choice_id(input.text);  // checked where the data is
    else if (f->kind == Kind::toggle)
      f->toggle() = input.text == "true";
    else if (f->kind == Kind::text)
      f->text() = input.text;
    else if (f->is_number() && std::isfinite(input.number))
      f->set_number(std::clamp(input.number, f->spec.range.lo, f->spec.range.hi));
  }
}

namespace {

/// Adds the row beside the model's figure; `agrees` in how many of `keys` keys it does.
void add_published_mark(const Published& row, double model, std::size_t agrees, std::size_t keys,
                        PublishedMarks& marks) {
  if (!(std::abs(model) > 0) || row.role == ModelRole::beside) return;
  const bool bound = is_bound(row.role);
  const double share = bound ? published_share(row.role, row.measured, model) : row.measured / model;
  marks.bounds = marks.bounds && bound;
  marks.marks.push_back({.label = row.name,
                         .figure = widgets::format_text(std::round(100 * share), "%"),
                         .value = widgets::format_text(row.measured, row.unit) + " measured, " +
                                  widgets::format_text(model, row.unit) + " by the model",
                         .info = row.source + (row.note.empty() ? "." : ". " + row.note),
                         .ratio = share,
                         .faint = agrees < keys});
  marks.agreement.push_back(agrees);
}

/// How many of `keys` have in the row the value that they have in `now`; a key that the row does not state counts.
std::size_t published_agreement(const Published& row, const Fields& now, const std::vector<std::string_view>& keys) {
  return static_cast<std::size_t>(std::count_if(keys.begin(), keys.end(), [&](std::string_view key) {
    const PublishedInput* input = row.input(key);
    const Field* f = now.find(key);
    return !input || !f || f->kind != Kind::choice || f->choice_id() == input->text;
  }));
}

/// Those that agree most first, otherwise in the order of the data.
void order_published(PublishedMarks& marks) {
  std::vector<std::size_t> order(marks.marks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return marks.agreement[a] > marks.agreement[b]; });
  std::vector<widgets::MeasuredMark> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(marks.marks[i]));
  marks.marks = std::move(sorted);
  std::sort(marks.agreement.rbegin(), marks.agreement.rend());
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

}  // namespace

void detail::set_published(PublishedMarks& marks, const LabInfo& lab, const Fields& now,
                           const std::vector<double>& figures) {
  const std::span<const Published> rows = catalog().published_of(lab.id);
  const std::vector<std::string_view> keys = words_of(lab.published_keys);
  marks = {};
  marks.any = !rows.empty();
  for (std::size_t i = 0; i < std::min(rows.size(), figures.size()); ++i)
    add_published_mark(rows[i], figures[i], published_agreement(rows[i], now, keys), keys.size(), marks);
  order_published(marks);
}

float published_line(std::string_view words, const PublishedMarks& marks, ImVec2 room, float least) {
  if (marks.marks.empty() || room.y - widgets::measured_line_height() < least) return 0;
  // The best of those that agree most with what is set.
  const auto end =
      marks.marks.begin() + std::count(marks.agreement.begin(), marks.agreement.end(), marks.agreement.front());
  const auto best =
      std::max_element(marks.marks.begin(), end, [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
  return widgets::draw_measured_line("measured", *best, words, marks.bounds ? "of its bound" : "of what its model says",
                                     room.x);
}

void published_strip(const PublishedMarks& marks, ImVec2 size) {
  if (marks.marks.empty()) {
    ImGui::Dummy(size);
    return;
  }
  widgets::draw_measured_strip("published", marks.marks,
                               marks.bounds ? "of the bound (%)" : "of the model's figure (%)", size);
}

void published_panel(widgets::Stage& stage, std::string_view title, const PublishedMarks& marks) {
  if (!marks.any) return;
  stage.panel("published", {.title = title, .least = {420, 150}, .ideal = {0, 300}},
              [&](ImVec2 size) { published_strip(marks, size); });
}

}  // namespace chapters
