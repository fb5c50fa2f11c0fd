#include "app/shell/controls/field_text.h"

#include <cmath>

namespace app {

using chapters::Field;
using chapters::Kind;

namespace {

widgets::NumberText counted_noun(std::size_t n, std::string_view one, std::string_view more) {
  return widgets::format(static_cast<double>(n), n == 1 ? one : more, 6, widgets::Prefix::none);
}

}  // namespace

bool has_value(const Field& f) { return !(f.spec.may_be_missing && f.kind == Kind::real && std::isnan(f.real())); }

std::string_view field_text(const Field& f, widgets::NumberText& scratch, int digits) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      if (!has_value(f)) return "—";
      return scratch = widgets::format(f.number(), f.spec.unit, f.kind == Kind::integer ? 12 : digits, prefix_of(f));
    case Kind::toggle:
      return f.toggle() ? "on" : "off";
    case Kind::choice: {
      const double i = f.number();
      return i >= 0 ? std::string_view((*f.options)[static_cast<std::size_t>(i)].label) : f.choice_id();
    }
    case Kind::text:
      return f.text().empty() ? std::string_view("—") : std::string_view(f.text());
    case Kind::file: {
      const std::string_view path = f.file().path;
      return path.empty() ? std::string_view("none") : path.substr(path.rfind('/') + 1);
    }
    case Kind::choices:
      if (f.chosen().empty()) return "none";
      if (f.chosen().size() == 1)
        for (const auto& o : *f.options)
          if (o.id == f.chosen().front()) return o.label;
      return scratch = widgets::format(static_cast<double>(f.chosen().size()), "");
    case Kind::reals:
      return scratch = counted_noun(f.reals().size(), "value", "values");
    case Kind::table:
      return scratch = counted_noun(f.table_size(), "row", "rows");
  }
  return {};
}

const chapters::Field* file_instead(const chapters::Field& input, const chapters::Fields& inputs) {
  const chapters::Field* file = input.spec.when.value.empty() ? inputs.find(input.spec.when.key) : nullptr;
  return file && file->kind == chapters::Kind::file && !file->file().path.empty() ? file : nullptr;
}

}  // namespace app
