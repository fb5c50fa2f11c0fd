#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "app/cli/check_rows.h"
#include "app/content/content.h"
#include "app/platform/json.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "models/transformer/transformer.h"
#include "widgets/number/number.h"

namespace app::cli {
namespace {

void check_claims(const Content& content, std::string_view lab, CheckedRows& rows) {
  for (const Claim& claim : content.claims) {
    if (!lab.empty() && claim.lab != lab) continue;
    const auto checked = check_claim(claim);
    if (!checked) {
      rows.say(false, checked.error);
      continue;
    }
    const CheckedClaim& c = *checked;
    rows.say(c.agrees, claim.id + "  claimed " + std::string(widgets::format(claim.claimed, c.unit, 5)) +
                           ", computed " + std::string(widgets::format(c.computed, c.unit, 5)) +
                           (c.verdict == Verdict::right   ? ": holds"
                            : c.verdict == Verdict::wrong ? ": does not hold"
                                                          : ": unsettled") +
                           (c.agrees ? "" : ", which is not the recorded verdict"));
    rows.document["claims"].push_back({{"id", claim.id},
                                       {"lab", claim.lab},
                                       {"claimed", claim.claimed},
                                       {"computed", c.computed},
                                       {"unit", c.unit},
                                       {"verdict", c.verdict == Verdict::right   ? "right"
                                                   : c.verdict == Verdict::wrong ? "wrong"
                                                                                 : "unsettled"},
                                       {"as_recorded", c.agrees}});
  }
}

void check_parameters(CheckedRows& rows) {
  for (const auto& model : chapters::catalog().models) {
    if (!model.published) continue;
    const auto total = static_cast<double>(models::count_parameters(model.architecture).total);
    const bool agrees = std::abs(total - model.published->parameters) <= model.published->rounding;
    rows.say(agrees, model.id + "  published " + std::string(widgets::format(model.published->parameters, "", 15)) +
                         ", counted " + std::string(widgets::format(total, "", 15)));
    rows.document["parameters"].push_back(
        {{"model", model.id}, {"published", model.published->parameters}, {"counted", total}, {"as_recorded", agrees}});
  }
}

}  // namespace

CheckedRows::CheckedRows() {
  for (const char* list : {"claims", "parameters", "published", "residuals", "plans", "errors"})
    document[list] = Json::array();
}

void CheckedRows::say(bool good, const std::string& line) {
  (good ? passed : failed)++;
  lines += (good ? "ok    " : "DIFFERS ") + line + "\n";
  if (!good) document["errors"].push_back(line);
}

/// Recomputes every claim, every published parameter count and the model of every published measurement, or those of
/// one lab; 1 when one differs from what is recorded.
int check(const Arguments& a, const Streams& s) {
  const std::string lab = a.words.empty() ? "" : a.words[0];
  if (!lab.empty() && !chapters::has_lab(lab)) return complain(s, unknown_lab(lab));
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  const Content content = load_content(*assets);
  CheckedRows rows;
  for (const auto& error : content.errors) rows.say(false, error);
  check_claims(content, lab, rows);
  if (lab.empty()) check_parameters(rows);
  if (lab.empty() || lab == "interview/scenarios") check_scenarios(rows);
  check_measurements(lab, rows);
  if (lab.empty() || lab == "distributed/planner") check_plans(*assets, rows);
  rows.document["passed"] = rows.passed;
  rows.document["failed"] = rows.failed;
  if (a.has("--json"))
    s.out << to_text(rows.document, 2) << "\n";
  else
    s.out << rows.lines << rows.passed << " passed, " << rows.failed << " failed\n";
  return rows.failed == 0 ? 0 : 1;
}

}  // namespace app::cli
