#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/cli.h"
#include "app/content/content.h"
#include "app/explore/explore.h"
#include "app/scenario/field_prefix.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

using chapters::Field;
using chapters::Kind;

const char* kind_name(Kind kind) {
  static constexpr const char* names[] = {"real", "integer", "toggle", "choice", "choices",
                                          "text", "file",    "reals",  "table"};
  return names[static_cast<std::size_t>(kind)];
}

Json describe(const Field& f, bool input) {
  Json j = {{"key", f.key}, {"kind", kind_name(f.kind)}, {"label", f.spec.label}};
  if (!f.spec.unit.empty()) j["unit"] = f.spec.unit;
  if (input && (f.is_number() || f.kind == Kind::reals)) {
    static constexpr const char* scales[] = {"linear", "log", "step"};
    j["range"] = {f.spec.range.lo, f.spec.range.hi};
    if (f.spec.any_number) j["any_number"] = true;  // the range is the slider's alone
    j["scale"] = scales[static_cast<std::size_t>(f.spec.range.scale)];
  }
  if (f.options) {
    j["options"] = Json::array();
    for (const auto& o : *f.options) j["options"].push_back(o.id);
  }
  if (f.kind == Kind::table) {
    chapters::Fields cells;
    f.table_columns(cells);
    j["columns"] = Json::array();
    for (const Field& c : cells) j["columns"].push_back(describe(c, input));
  }
  if (input) j["default"] = field_to_json(f);
  if (!f.spec.help.empty()) j["help"] = f.spec.help;
  if (!f.spec.shared.empty()) j["shared"] = f.spec.shared;
  if (!f.spec.formula.empty()) j["formula"] = f.spec.formula;
  if (!f.spec.source.empty()) j["source"] = f.spec.source;
  return j;
}

std::string allowed(const Field& f) {
  if (f.spec.any_number) return "any number, inf, nan";
  if (f.is_number() || f.kind == Kind::reals)
    return widgets::format_text(f.spec.range.lo, f.spec.unit, 4, prefix_of(f)) + " to " +
           widgets::format_text(f.spec.range.hi, f.spec.unit, 4, prefix_of(f));
  if (f.options) {
    std::vector<std::string> ids;
    for (const auto& o : *f.options) ids.push_back(o.id);
    return sentence_list(ids, 6);
  }
  return kind_name(f.kind);
}

std::string without_trailing_space(std::string s) {
  while (!s.empty() && s.back() == ' ') s.pop_back();
  return s;
}

void print_long(std::ostream& out, const chapters::Lab& lab, const std::vector<Preset>& presets) {
  out << lab.info().id << "  " << lab.info().title << "\n  " << lab.info().question << "\n\ninputs\n";
  for (const Field& f : lab.inputs())
    out << "  --set " << f.key << "=" << display_text(f) << "   " << f.spec.label << "; " << allowed(f) << "\n";
  out << "outputs\n";
  for (const Field& f : lab.outputs())
    out << "  " << f.key << "   " << f.spec.label << (f.spec.unit.empty() ? "" : ", ") << f.spec.unit << "\n";
  if (!presets.empty()) out << "presets\n";
  for (const Preset& p : presets) out << "  --preset \"" << p.name << "\"   " << p.note << "\n";
}

void print_short(std::ostream& out) {
  std::size_t id_width = 0, title_width = 0;
  for (const auto& entry : chapters::all_labs()) {
    id_width = std::max(id_width, entry.id.size());
    title_width = std::max(title_width, entry.make()->info().title.size());
  }
  for (const auto& chapter : chapters::all_chapters()) {
    std::string lines;
    for (const auto& entry : chapter.labs) {
      const auto info = entry.make()->info();
      if (info.hidden) continue;
      lines += without_trailing_space("  " + std::string(entry.id) + std::string(id_width - entry.id.size() + 2, ' ') +
                                      std::string(info.title) + std::string(title_width - info.title.size() + 2, ' ') +
                                      std::string(info.question)) +
               "\n";
    }
    if (!lines.empty()) out << chapter.ordinal << "  " << chapter.title << "\n" << lines;
  }
  out << "\n`ridgeline list LAB` names the inputs, outputs and presets of one.\n";
}

Json lab_as_json(const chapters::LabEntry& entry, const Content& content) {
  const auto lab = entry.make();
  Json inputs = Json::array(), outputs = Json::array(), presets = Json::array();
  for (const Field& f : lab->inputs()) inputs.push_back(describe(f, true));
  for (const Field& f : lab->outputs()) outputs.push_back(describe(f, false));
  for (const Preset& p : content.of(entry.id).presets)
    presets.push_back({{"name", p.name}, {"note", p.note}, {"set", parse_own_json(p.set)}});
  return {{"id", entry.id},   {"title", lab->info().title}, {"question", lab->info().question},
          {"inputs", inputs}, {"outputs", outputs},         {"presets", presets}};
}

Json all_as_json(const Content& content) {
  Json out = Json::array();
  for (const auto& chapter : chapters::all_chapters()) {
    Json labs = Json::array();
    for (const auto& entry : chapter.labs) labs.push_back(lab_as_json(entry, content));
    out.push_back({{"chapter", chapter.slug}, {"title", chapter.title}, {"labs", labs}});
  }
  return out;
}

}  // namespace

int list(const Arguments& a, const Streams& s) {
  if (a.words.empty() && !a.has("--json")) {
    print_short(s.out);
    return 0;
  }
  const auto lab = a.words.empty() ? nullptr : chapters::make_lab_by_id(a.words[0]);
  if (!a.words.empty() && !lab) return complain(s, unknown_lab(a.words[0]));
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  const Content content = load_content(*assets);
  if (!a.has("--json")) {
    print_long(s.out, *lab, content.of(a.words[0]).presets);
    return 0;
  }
  if (!lab) {
    s.out << to_text(all_as_json(content), 2) << "\n";
    return 0;
  }
  for (const auto& entry : chapters::all_labs())
    if (entry.id == a.words[0]) s.out << to_text(lab_as_json(entry, content), 2) << "\n";
  return 0;
}

/// The answer as text for a terminal: a verdict and, where there is one, a second line that says why.
static std::string plain_answer(chapters::Lab& lab) {
  std::string answer(lab.reason().empty() ? lab.answer() : "");
  std::erase(answer, '`');  // they set figures apart on the screen
  return answer;
}

int eval(const Arguments& a, const Streams& s) {
  const auto made = make_set_lab(a);
  if (!made) return complain(s, made.error);
  const auto& lab = *made;
  const bool feasible = lab->reason().empty();
  if (a.has("--json")) {
    Json all = evaluation_to_json(*lab);
    all["answer"] = plain_answer(*lab);
    s.out << to_text(all, 2) << "\n";
  } else {
    s.out << lab->info().id << "\n";
    for (const Field& f : lab->inputs()) s.out << "  " << f.key << " = " << display_text(f) << "\n";
    if (feasible)
      for (const Field& f : lab->outputs())
        s.out << "  -> " << f.key << " = " << display_text(f) << "   (" << f.spec.label << ")\n";
    if (const std::string answer = plain_answer(*lab); !answer.empty())
      s.out << lab->info().question << "\n" << answer << "\n";
  }
  return feasible ? 0 : say_infeasible(s, lab->reason());
}

}  // namespace app::cli
