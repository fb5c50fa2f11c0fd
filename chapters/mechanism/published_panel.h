#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/catalog.h"
#include "widgets/charts/measured_strip.h"
#include "widgets/stage/stage.h"

/// A panel that shows a lab's published measurements beside its model: the model hollow, the measurement filled.
namespace chapters {

/// Published measurements as texts and places of a strip, made once a change.
struct PublishedMarks {
  std::vector<widgets::MeasuredMark> marks;  ///< those that agree most with what is set first
  std::vector<std::size_t> agreement;        ///< by mark: in how many keys
  bool bounds = true;                        ///< every model here is a bound
};

namespace detail {

/// Sets the inputs of `fields` that the row states: numbers, choices, toggles and texts.
void set_published_inputs(const Fields& fields, const Published& row);
/// Adds the row beside the model's figure; `agrees` in how many of `keys` keys it does.
void add_published_mark(const Published& row, double model, std::size_t agrees, std::size_t keys,
                        PublishedMarks& marks);
/// How many of `keys` have in the row the value that they have in `now`; a key that the row does not state counts.
std::size_t published_agreement(const Published& row, const Fields& now, std::initializer_list<std::string_view> keys);
/// Those that agree most first, otherwise in the order of the data.
void order_published(PublishedMarks& marks);

}  // namespace detail

/// The published measurements of a lab, each beside what `compute` gives for its inputs. Rows that agree with `now` in
/// `keys` come first and strong, the others faint. The models' figures are kept until another catalog is in force.
template <class Inputs, class Compute>
PublishedMarks arrange_published(std::string_view lab, const Inputs& now, Compute compute,
                                 std::initializer_list<std::string_view> keys) {
  static thread_local const Catalog* of = nullptr;
  static thread_local std::vector<double> figures;
  const std::span<const Published> rows = catalog().published_of(lab);
  if (of != &catalog() || figures.size() != rows.size()) {
    of = &catalog();
    figures.clear();
    for (const Published& row : rows) {
      Inputs in;
      Fields fields;
      describe(fields, in);
      detail::set_published_inputs(fields, row);
      auto out = compute(in);
      Fields described;
      describe(described, out);
      const Field* output = described.find(row.output);
      figures.push_back(output && out.reason.empty() ? output->number() : 0);
    }
  }
  Inputs current = now;
  Fields fields;
  describe(fields, current);
  PublishedMarks marks;
  for (std::size_t i = 0; i < rows.size(); ++i)
    detail::add_published_mark(rows[i], figures[i], detail::published_agreement(rows[i], fields, keys), keys.size(),
                               marks);
  detail::order_published(marks);
  return marks;
}

/// The best measurement of those that agree most, in one line of the answering panel, `words` before its name; returns
/// the line's height, 0 where there is none or no room for `least` pixels of picture under it.
float published_line(std::string_view words, const PublishedMarks& marks, ImVec2 room, float least);
/// The panel under `title`; nothing where there are no marks.
void published_panel(widgets::Stage& stage, std::string_view title, const PublishedMarks& marks);

}  // namespace chapters
