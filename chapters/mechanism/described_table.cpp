#include "chapters/mechanism/described_table.h"

#include <cmath>

namespace chapters::detail {
namespace {

constexpr int every_digit = 15;

}  // namespace

widgets::TableColumn table_column(const DescribedColumn& column, const Field* field) {
  const bool number = field != nullptr && field->is_number();
  const bool written_here = column.digits > 0 || column.whole;
  const std::string_view label = field != nullptr ? field->spec.label : column.key;
  return {.title = column.title.empty() ? label : column.title,
          .number = number,
          .code = column.code && !number,
          .value_unit = number && !written_here ? field->spec.unit : std::string_view(),
          .prefix = number && field->spec.binary ? widgets::Prefix::binary : widgets::Prefix::si,
          .bar = column.bar,
          .full = column.full,
          .tint = column.tint,
          .priority = column.priority};
}

void fill_cell(const Field& field, const DescribedColumn& column, widgets::TableCell& out) {
  switch (field.kind) {
    case Kind::real:
    case Kind::integer:
      out.value = field.number();
      if (std::isnan(out.value))
        out.text = column.missing;
      else if (column.whole)
        out.number = widgets::format(std::round(out.value), field.spec.unit, every_digit);
      else if (field.spec.unit.empty() || column.digits > 0)
        out.number = widgets::format(out.value, field.spec.unit, column.digits > 0 ? column.digits : 3,
                                     field.spec.binary ? widgets::Prefix::binary : widgets::Prefix::si);
      return;
    case Kind::toggle:
      out.text = field.toggle() ? "yes" : "no";
      return;
    case Kind::text:
      out.text = field.text();
      return;
    case Kind::choice:
      if (const double at = field.number(); at >= 0) out.text = (*field.options)[static_cast<std::size_t>(at)].label;
      return;
    default:
      return;
  }
}

}  // namespace chapters::detail
