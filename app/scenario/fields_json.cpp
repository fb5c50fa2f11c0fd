#include "app/scenario/fields_json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/platform/quoted_text.h"
#include "app/scenario/carried_file.h"
#include "app/scenario/sentences.h"
#include "widgets/number/number.h"

namespace app {
namespace {

using chapters::Field;
using chapters::Fields;
using chapters::Kind;
using models::Status;

std::string number_text(double v) { return std::string(widgets::format(v, "", 6).view()); }

std::string range_of(const Field& f) {
  std::string s = number_text(f.spec.range.lo) + " to " + number_text(f.spec.range.hi);
  if (!f.spec.unit.empty()) s += " " + std::string(f.spec.unit);
  return s;
}

std::string option_ids(const Field& f) {
  std::vector<std::string> ids;
  for (const auto& o : *f.options) ids.push_back(o.id);
  constexpr std::size_t most = 12;  // of seventy models a sentence names a few
  return sentence_list(ids, most) + (ids.size() > most ? " (`ridgeline list LAB --json` names all)" : "");
}

Status refuse(const Field& f, const Json& v, const std::string& allowed) {
  return Status::fail(std::string(f.key) + " is " + json_excerpt(v) + ": " + allowed + ".");
}

/// An option that is not there: the nearest ones are named, and all of them where there is room or none is near.
Status refuse_option(const Field& f, const Json& v) {
  constexpr std::size_t few = 8;
  std::vector<std::string> ids;
  for (const auto& o : *f.options) ids.push_back(o.id);
  const std::string guess = v.is_string() ? did_you_mean(v.get_ref<const std::string&>(), ids) : std::string();
  const std::string start = std::string(f.key) + " is " + json_excerpt(v) + ": ";
  if (f.spec.refused && v.is_string())
    for (const auto& o : *f.spec.refused)
      if (o.id == v.get_ref<const std::string&>()) return Status::fail(start + o.help);
  if (guess.empty()) return Status::fail(start + "allowed are " + option_ids(f) + ".");
  return Status::fail(start + guess + " " +
                      (ids.size() <= few ? "Allowed are " + option_ids(f)
                                         : "`ridgeline list LAB` names all " + std::to_string(ids.size())) +
                      ".");
}

Status number_from(const Field& f, const Json& v) {
  const bool whole = f.kind == Kind::integer;
  const std::string allowed =
      std::string(whole ? "a whole number" : "a number") + " from " + range_of(f) + " is allowed";
  if (f.spec.any_number && v.is_string()) {
    const auto d = widgets::parse_special(v.get_ref<const std::string&>());
    if (!d) return refuse(f, v, "a number, inf, -inf or nan is allowed");
    f.set_number(*d);
    return Status::ok();
  }
  if (!v.is_number()) return refuse(f, v, allowed);
  const double d = v.get<double>();
  if (f.spec.any_number) {
    f.set_number(d);
    return Status::ok();
  }
  if (!(d >= f.spec.range.lo && d <= f.spec.range.hi) || (whole && d != std::floor(d))) return refuse(f, v, allowed);
  f.set_number(d);
  return Status::ok();
}

/// Sets the cells that one row of a table names.
Status set_cells(const Field& table, std::size_t row, const Json& values, const Fields& cells, const FileReader& read) {
  const std::string where = std::string(table.key) + "[" + std::to_string(row) + "]";
  for (const auto& [key, value] : values.items()) {
    const Field* cell = cells.find(key);
    if (!cell) return Status::fail(unknown_key(where, "column", key, cells));
    if (auto set = field_from_json(*cell, value, read); !set) return Status::fail(where + "." + set.error);
  }
  return Status::ok();
}

/// Tries every row on a scratch row, so that a bad one changes nothing.
Status check_rows(const Field& f, const Json& rows, const FileReader& read) {
  Fields cells;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_object()) return refuse(f, rows[i], "each row must be an object");
    f.table_columns(cells);
    if (auto set = set_cells(f, i, rows[i], cells, read); !set) return set;
  }
  return Status::ok();
}

Status apply_rows(const Field& f, const Json& rows, const FileReader& read) {
  Fields cells;
  f.table_resize(0);  // The old rows go first, so that new ones start from the defaults.
  f.table_resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    f.table_row(i, cells);
    if (auto set = set_cells(f, i, rows[i], cells, read); !set) return set;
  }
  return Status::ok();
}

Status table_from(const Field& f, const Json& v, const FileReader& read) {
  if (!v.is_array() || v.size() > f.spec.max_items)
    return refuse(f, v, "a list of at most " + std::to_string(f.spec.max_items) + " rows, each an object, is allowed");
  if (auto checked = check_rows(f, v, read); !checked) return checked;
  return apply_rows(f, v, read);
}

Status toggle_from(const Field& f, const Json& v) {
  if (v.is_boolean())
    f.toggle() = v.get<bool>();
  else if (v.is_number() && (v.get<double>() == 0 || v.get<double>() == 1))
    f.toggle() = v.get<double>() == 1;
  else
    return refuse(f, v, "true or false is allowed");
  return Status::ok();
}

Status choices_from(const Field& f, const Json& v) {
  if (!v.is_array() || v.size() > f.spec.max_items)
    return refuse(f, v,
                  "a list of at most " + std::to_string(f.spec.max_items) + " of " + option_ids(f) + " is allowed");
  std::vector<std::string> ids;
  for (const Json& e : v) {
    const bool known = e.is_string() && std::any_of(f.options->begin(), f.options->end(), [&](const auto& o) {
                         return o.id == e.get_ref<const std::string&>();
                       });
    if (!known) return refuse_option(f, e);
    const auto& id = e.get_ref<const std::string&>();
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  f.chosen() = std::move(ids);
  return Status::ok();
}

Status text_from(const Field& f, const Json& v) {
  if (!v.is_string() || v.get_ref<const std::string&>().size() > f.spec.max_bytes)
    return refuse(f, v,
                  "a text of at most " + std::string(widgets::format(static_cast<double>(f.spec.max_bytes), "", 9)) +
                      " bytes is allowed");
  f.text() = v.get<std::string>();
  return Status::ok();
}

Status file_from(const Field& f, const Json& v, const FileReader& read) {
  if (is_carried_json(v)) {
    f.file() = carried_file(f, v["name"].get<std::string>(), v["text"].get<std::string>());
    return Status::ok();
  }
  if (!v.is_string()) return refuse(f, v, "a path is expected");
  const auto& path = v.get_ref<const std::string&>();
  if (path.empty()) {
    f.file() = {};
    return Status::ok();
  }
  const auto loaded = load_file(f, path, read);
  return loaded ? Status::ok() : Status::fail(std::string(f.key) + ": " + loaded.error);
}

Status reals_from(const Field& f, const Json& v) {
  const std::string allowed =
      "a list of at most " + std::to_string(f.spec.max_items) + " numbers from " + range_of(f) + " is allowed";
  if (!v.is_array() || v.size() > f.spec.max_items) return refuse(f, v, allowed);
  std::vector<double> values;
  for (const Json& e : v) {
    if (!e.is_number() || !(e.get<double>() >= f.spec.range.lo && e.get<double>() <= f.spec.range.hi))
      return refuse(f, e, allowed);
    values.push_back(e.get<double>());
  }
  f.reals() = std::move(values);
  return Status::ok();
}

}  // namespace

std::string json_excerpt(const Json& v) {
  const std::string s = to_text(v);
  return s.size() > 60 ? excerpt(s, 57) + "..." : s;
}

Json field_to_json(const Field& f) {
  switch (f.kind) {
    case Kind::real:
      if (std::isfinite(f.real())) return f.real();
      if (!f.spec.any_number) return nullptr;
      return std::isnan(f.real()) ? "nan" : f.real() < 0 ? "-inf" : "inf";
    case Kind::integer:
      return f.integer();
    case Kind::toggle:
      return f.toggle();
    case Kind::choice:
      return f.choice_id();
    case Kind::choices:
      return f.chosen();
    case Kind::text:
      return f.text();
    case Kind::file:
      if (is_carried(f.file())) return carried_to_json(f.file());
      return f.file().path;
    case Kind::reals:
      return f.reals();
    case Kind::table: {
      Json rows = Json::array();
      Fields cells;
      for (std::size_t i = 0; i < f.table_size(); ++i) {
        f.table_row(i, cells);
        rows.push_back(fields_to_json(cells));
      }
      return rows;
    }
  }
  return nullptr;
}

Json fields_to_json(const Fields& fields) {
  Json out = Json::object();
  for (const Field& f : fields) out[std::string(f.key)] = field_to_json(f);
  return out;
}

Status field_from_json(const Field& f, const Json& v, const FileReader& read) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer:
      return number_from(f, v);
    case Kind::toggle:
      return toggle_from(f, v);
    case Kind::choice:
      if (v.is_string() && f.set_choice_id(v.get_ref<const std::string&>())) return Status::ok();
      return refuse_option(f, v);
    case Kind::choices:
      return choices_from(f, v);
    case Kind::text:
      return text_from(f, v);
    case Kind::file:
      return file_from(f, v, read);
    case Kind::reals:
      return reals_from(f, v);
    case Kind::table:
      return table_from(f, v, read);
  }
  return Status::ok();
}

Status set_field_from_text(const Field& f, std::string_view text, const FileReader& read) {
  switch (f.kind) {
    case Kind::real:
    case Kind::integer: {
      if (f.spec.any_number && widgets::parse_special(text)) return field_from_json(f, std::string(text), read);
      const auto parsed = widgets::parse_quantity(text, f.spec.unit);
      if (!parsed.error.empty()) return Status::fail(whole_sentence(std::string(f.key) + ": " + parsed.error));
      return field_from_json(f, parsed.value, read);
    }
    case Kind::toggle: {
      for (std::string_view yes : {"true", "1", "on", "yes"})
        if (text == yes) return field_from_json(f, true, read);
      for (std::string_view no : {"false", "0", "off", "no"})
        if (text == no) return field_from_json(f, false, read);
      return field_from_json(f, std::string(text), read);
    }
    case Kind::file:
      if (const auto carried = text.starts_with('{') ? parse_json(text) : models::Result<Json>::fail("");
          carried && is_carried_json(*carried))
        return field_from_json(f, *carried, read);
      [[fallthrough]];
    case Kind::choice:
    case Kind::text:
      return field_from_json(f, std::string(text), read);
    case Kind::choices:
      if (text.empty() || text.front() != '[' ||
          (text.back() == ']' && text.find('"') == std::string_view::npos)) {  // a,b,c or [a,b,c]
        Json list = Json::array();
        std::stringstream in{
            std::string(!text.empty() && text.front() == '[' ? text.substr(1, text.size() - 2) : text)};
        in.exceptions(std::ios::badbit);  // otherwise the stream keeps std::bad_alloc to itself and the list is cut
        for (std::string id; std::getline(in, id, ',');) list.push_back(id);
        return field_from_json(f, list, read);
      }
      [[fallthrough]];
    case Kind::reals:
    case Kind::table: {
      const auto parsed = parse_json(text);
      if (!parsed)
        return Status::fail(std::string(f.key) + " is \"" + excerpt(text) +
                            "\": a JSON list such as [1,2,3] is expected.");
      return field_from_json(f, *parsed, read);
    }
  }
  return Status::ok();
}

}  // namespace app
