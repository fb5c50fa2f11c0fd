#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/registry.h"

/// What the generic tests need to say of any lab, over its two descriptions.
namespace support {

using chapters::Field;
using chapters::Fields;
using chapters::Kind;

/// "precision" of "precision/bits".
inline std::string chapter_of(std::string_view id) { return std::string(id.substr(0, id.find('/'))); }

/// Is this lab, by its id, among those that the environment's RIDGELINE_LABS chooses by how their ids start?
inline bool is_under_test(std::string_view id) {
  const char* wanted = std::getenv("RIDGELINE_LABS");
  return !wanted || id.starts_with(wanted);
}

/// The labs whose id starts with the environment's RIDGELINE_LABS, which ./test sets to a chapter ("roofline/") or a
/// lab; all of them where it is not set.
inline std::vector<chapters::LabEntry> labs_under_test() {
  std::vector<chapters::LabEntry> out;
  for (const chapters::LabEntry& entry : chapters::all_labs())
    if (is_under_test(entry.id)) out.push_back(entry);
  return out;
}

/// The row of the table of contents with that id, whose `make` shares no memory with other labs; it must be there.
inline const chapters::LabEntry& entry_of(std::string_view id) {
  const auto labs = chapters::all_labs();
  return *std::find_if(labs.begin(), labs.end(), [&](const chapters::LabEntry& entry) { return entry.id == id; });
}

/// The chapters of the table of contents all of whose labs are under test.
inline std::vector<std::string> whole_chapters_under_test() {
  std::vector<std::string> out;
  for (const auto& chapter : chapters::all_chapters())
    if (std::all_of(chapter.labs.begin(), chapter.labs.end(), [](const auto& lab) { return is_under_test(lab.id); }))
      out.emplace_back(chapter.slug);
  return out;
}

/// Calls `visit(field, path)` for every described field, the cells of tables included: "rows[2].time_s".
template <class Visit>
void each_field(const Fields& fields, const Visit& visit, const std::string& prefix = {}) {
  for (const Field& f : fields) {
    const std::string path = prefix + std::string(f.key);
    visit(f, path);
    if (f.kind != Kind::table) continue;
    Fields cells;
    for (std::size_t row = 0; row < f.table_size(); ++row) {
      f.table_row(row, cells);
      each_field(cells, visit, path + "[" + std::to_string(row) + "].");
    }
  }
}

/// The first number that is not finite, or the first choice that is none of its options; empty when all is well.
inline std::string first_bad_value(const Fields& fields) {
  std::string bad;
  each_field(fields, [&](const Field& f, const std::string& path) {
    if (!bad.empty()) return;
    const bool good = f.kind == Kind::real ? std::isfinite(f.real()) || f.spec.any_number ||
                                                 (f.spec.may_be_missing && std::isnan(f.real()))
                      : f.kind == Kind::reals
                          ? std::all_of(f.reals().begin(), f.reals().end(), [](double v) { return std::isfinite(v); })
                      : f.kind == Kind::choice ? f.number() >= 0
                                               : true;
    if (!good) bad = path;
  });
  return bad;
}

/// Every described value as bytes: two sets of fields with the same fingerprint hold the same values.
inline std::string fingerprint(const Fields& fields) {
  std::string out;
  const auto add = [&](const auto& v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); };
  const auto say = [&](std::string_view s) { (out += s) += '\0'; };
  each_field(fields, [&](const Field& f, const std::string&) {
    switch (f.kind) {
      case Kind::real:
        add(f.real());
        break;
      case Kind::integer:
        add(f.integer());
        break;
      case Kind::toggle:
        add(f.toggle());
        break;
      case Kind::choice:
        say(f.choice_id());
        break;
      case Kind::choices:
        for (const auto& id : f.chosen()) say(id);
        add(f.chosen().size());
        break;
      case Kind::text:
        say(f.text());
        break;
      case Kind::file:
        say(f.file().path);
        say(f.file().text);
        add(f.file().bytes.get());
        break;
      case Kind::reals:
        for (const double v : f.reals()) add(v);
        add(f.reals().size());
        break;
      case Kind::table:
        add(f.table_size());
        break;
    }
  });
  return out;
}

/// Outputs and reason of a lab that has been computed.
inline std::string result_of(const chapters::Lab& lab) {
  return lab.reason().empty() ? fingerprint(lab.outputs()) : "infeasible: " + lab.reason();
}

/// One sentence: a capital or a figure first, a full stop last, none in between that ends a sentence, no line break.
inline bool is_sentence(const std::string& s) {
  if (s.size() < 8 || s.back() != '.' || s.find('\n') != std::string::npos) return false;
  if (s.front() >= 'a' && s.front() <= 'z') return false;
  for (std::size_t i = 0; i + 2 < s.size(); ++i)
    if (s[i] == '.' && s[i + 1] == ' ' && s[i + 2] >= 'A' && s[i + 2] <= 'Z') return false;
  return true;
}

/// Sets the input that `f.spec.when.key` names to the value at which `f` matters (and that one's own, and so on).
inline void make_relevant(const chapters::Lab& lab, const Field& f, int depth = 0) {
  const Field* w = f.spec.when.key.empty() ? nullptr : lab.inputs().find(f.spec.when.key);
  if (!w || depth > 4) return;
  make_relevant(lab, *w, depth + 1);
  if (w->kind == Kind::choice)
    w->set_choice_id(f.spec.when.value);
  else if (w->kind == Kind::toggle)
    w->toggle() = f.spec.when.value == "true";
  else if (w->kind == Kind::text && f.spec.when.value.empty())
    w->text().clear();
}

}  // namespace support
