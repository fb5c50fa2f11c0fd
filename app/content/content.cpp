#include "app/content/content.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

#include "app/content/content_parts.h"
#include "app/content/json_reader.h"
#include "app/content/questions.h"
#include "app/explore/explore.h"
#include "app/platform/file.h"
#include "app/platform/json.h"
#include "app/platform/plain_file.h"
#include "app/platform/quoted_text.h"
#include "app/scenario/scenario.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/registry.h"

namespace app {
namespace {

namespace fs = std::filesystem;

Json parse_file(const fs::path& path, std::vector<std::string>& errors) {
  const auto text = read_text_file(path.string());
  if (!text) {
    errors.push_back(text.error);
    return {};
  }
  auto doc = parse_json(*text);
  if (!doc) {
    errors.push_back(path.filename().string() + " is not valid JSON: mend or remove it.");
    return {};
  }
  return std::move(*doc);
}

/// What a lab teaches, and what should come first.
void load_aims(const Json& doc, const std::string& origin, LabContent& lab, std::vector<std::string>& errors) {
  if (!doc.is_object()) return;
  each(doc, "objectives", origin, [&](Reader r, const Json&) {
    Objective objective{r.text("can"), r.texts("check")};
    if (r.error().empty())
      lab.objectives.push_back(std::move(objective));
    else
      errors.push_back(r.error());
  });
  Reader r(doc, origin);
  lab.needs = r.texts("needs");
  if (!r.error().empty()) errors.push_back(r.error());
}

void load_lab(const fs::path& assets, std::string_view id, Content& content) {
  LabContent& lab = content.labs[std::string(id)];
  const fs::path base = assets / "labs" / std::string(id);
  std::error_code none;
  if (fs::path md = base; fs::exists(md += ".md", none)) {
    if (const auto text = read_text_file(md.string()))
      lab.prose = split_angles(*text);
    else
      content.errors.push_back(text.error);
  }
  fs::path path = base;
  if (!fs::exists(path += ".json", none)) return;
  const Json doc = parse_file(path, content.errors);
  const std::string origin = std::string(id) + ".json";
  load_aims(doc, origin, lab, content.errors);
  each(doc, "presets", origin, [&](Reader r, const Json&) {
    Preset p{r.text("name"), r.text("note", false), r.object("set")};
    if (r.error().empty())
      lab.presets.push_back(std::move(p));
    else
      content.errors.push_back(r.error());
  });
  each(doc, "predictions", origin, [&](Reader r, const Json& item) {
    Prediction p = parse_question(r, item);
    if (r.error().empty())
      lab.predictions.push_back(std::move(p));
    else
      content.errors.push_back(r.error());
  });
}

void load_curriculum(const fs::path& root, Content& content) {
  const auto take_chapter = [&](Reader r, const Json& row) {
    CurriculumChapter chapter{r.text("slug"), r.text("ordinal"), r.text("title"), {}};
    std::string error = r.error();
    each(row, "labs", "curriculum.json, chapter " + chapter.slug, [&](Reader l, const Json&) {
      chapter.labs.push_back({l.text("id"), l.text("title")});
      if (error.empty()) error = l.error();
    });
    if (error.empty())
      content.curriculum.push_back(std::move(chapter));
    else
      content.errors.push_back(error);
  };
  std::error_code none;
  if (fs::exists(root / "curriculum.json", none))
    each(parse_file(root / "curriculum.json", content.errors), "chapters", "curriculum.json", take_chapter);
}

void load_claims(const fs::path& path, Content& content) {
  each(parse_file(path, content.errors), "claims", path.filename().string(), [&](Reader r, const Json&) {
    Claim c{r.text("id"),
            r.text("source"),
            r.text("statement"),
            r.text("lab"),
            r.object("inputs"),
            r.text("output"),
            r.text("why"),
            r.number("claimed", std::nan("")),
            r.number("tolerance", 0.01),
            Verdict::right};
    const std::string verdict = r.text("verdict");
    if (verdict == "wrong")
      c.verdict = Verdict::wrong;
    else if (verdict == "unsettled")
      c.verdict = Verdict::unsettled;
    else if (verdict != "right")
      r.fail("verdict is \"" + verdict + "\": right, wrong or unsettled is allowed");
    if (!std::isfinite(c.claimed)) r.fail("claimed must be a number");
    if (r.error().empty())
      content.claims.push_back(std::move(c));
    else
      content.errors.push_back(r.error());
  });
}

void load_glossary(const fs::path& root, Content& content) {
  std::error_code none;
  if (fs::exists(root / "glossary.json", none))
    each(parse_file(root / "glossary.json", content.errors), "terms", "glossary.json", [&](Reader r, const Json&) {
      Term t{r.text("term"), r.text("meaning"), r.text("lab", false), r.texts("also")};
      if (r.error().empty())
        content.glossary.push_back(std::move(t));
      else
        content.errors.push_back(r.error());
    });
}

}  // namespace

std::array<std::string, angles.size()> split_angles(std::string_view markdown) {
  std::array<std::string, angles.size()> out;
  int current = -1;
  bool in_code = false;  // a comment of shell or Python starts as a heading does
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find('\n'), markdown.size() - 1) + 1;
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end);
    if (line.starts_with("```")) in_code = !in_code;
    const std::string_view heading =
        in_code || !line.starts_with("# ") ? std::string_view() : line.substr(2, line.find_last_not_of(" \r\n") - 1);
    const auto angle = std::find(angles.begin(), angles.end(), heading);
    if (angle != angles.end())
      current = static_cast<int>(angle - angles.begin());
    else if (current >= 0)
      out[static_cast<std::size_t>(current)] += line;
  }
  return out;
}

const LabContent& Content::of(std::string_view lab) const {
  static const LabContent none;
  const auto at = labs.find(lab);
  return at == labs.end() ? none : at->second;
}

std::vector<const Claim*> Content::claims_of(std::string_view lab) const {
  std::vector<const Claim*> out;
  for (const Claim& c : claims)
    if (c.lab == lab) out.push_back(&c);
  return out;
}

Content load_content(const std::string& assets) {
  Content content;
  const fs::path root(assets);
  for (const auto& entry : chapters::all_labs())
    or_no_memory(content.errors, entry.id, [&] { load_lab(root, entry.id, content); });
  for (const auto& path : files_in(root / "claims", ".json"))
    or_no_memory(content.errors, path_text(path.filename()), [&] { load_claims(path, content); });
  load_lessons(root / "lessons", content, false);
  or_no_memory(content.errors, "curriculum.json", [&] { load_curriculum(root, content); });
  or_no_memory(content.errors, "glossary.json", [&] { load_glossary(root, content); });
  return content;
}

models::Result<CheckedClaim> check_claim(const Claim& claim) {
  using Checked = models::Result<CheckedClaim>;
  const auto fail = [&](const std::string& why) { return Checked::fail("Claim " + claim.id + ": " + why); };
  const auto lab = chapters::make_lab_by_id(claim.lab);
  if (!lab) return fail(unknown_lab(claim.lab));
  if (const auto set = apply_inputs(*lab, parse_own_json(claim.set)); !set) return fail(set.error);
  const auto* output = lab->outputs().find(claim.output);
  if (!output) return fail(unknown_key(claim.lab, "output", claim.output, lab->outputs()));
  lab->compute_facts();
  CheckedClaim c;
  c.unit = output->spec.unit;
  c.computed = reading(*lab, claim.output);
  if (!std::isfinite(c.computed))
    return fail(lab->reason().empty() ? claim.output + " is not a number." : lab->reason());
  c.residual = c.computed != 0 ? (claim.claimed - c.computed) / std::abs(c.computed) : claim.claimed;
  c.verdict = claim.verdict == Verdict::unsettled                                              ? Verdict::unsettled
              : std::abs(claim.claimed - c.computed) <= claim.tolerance * std::abs(c.computed) ? Verdict::right
                                                                                               : Verdict::wrong;
  c.agrees = c.verdict == claim.verdict;
  return Checked::ok(std::move(c));
}

}  // namespace app
