#include <cmath>
#include <ostream>

#include "app/cli/cli.h"
#include "app/content/content.h"
#include "app/scenario/sentences.h"
#include "chapters/mechanism/catalog.h"
#include "chapters/mechanism/registry.h"
#include "models/transformer/transformer.h"
#include "widgets/number/number.h"

namespace app::cli {

/// Recomputes every claim and every published parameter count, or the claims of one lab; 1 when one differs from what
/// is recorded.
int check(const Arguments& a, const Streams& s) {
  const std::string lab = a.words.empty() ? "" : a.words[0];
  if (!lab.empty() && !chapters::has_lab(lab)) return complain(s, unknown_lab(lab));
  const auto assets = load_assets();
  if (!assets) return complain(s, assets.error);
  const Content content = load_content(*assets);
  int passed = 0, failed = 0;
  const auto say = [&](bool good, const std::string& line) {
    (good ? passed : failed)++;
    s.out << (good ? "ok    " : "DIFFERS ") << line << "\n";
  };
  for (const auto& error : content.errors) say(false, error);
  for (const Claim& claim : content.claims) {
    if (!lab.empty() && claim.lab != lab) continue;
    const auto checked = check_claim(claim);
    if (!checked) {
      say(false, checked.error);
      continue;
    }
    const CheckedClaim& c = *checked;
    say(c.agrees, claim.id + "  claimed " + std::string(widgets::format(claim.claimed, c.unit, 5)) + ", computed " +
                      std::string(widgets::format(c.computed, c.unit, 5)) +
                      (c.verdict == Verdict::right   ? ": holds"
                       : c.verdict == Verdict::wrong ? ": does not hold"
                                                     : ": unsettled") +
                      (c.agrees ? "" : ", which is not the recorded verdict"));
  }
  for (const auto& model : chapters::catalog().models) {
    if (!model.published || !lab.empty()) continue;
    const auto total = static_cast<double>(models::count_parameters(model.architecture).total);
    say(std::abs(total - model.published->parameters) <= model.published->rounding,
        model.id + "  published " + std::string(widgets::format(model.published->parameters, "", 15)) + ", counted " +
            std::string(widgets::format(total, "", 15)));
  }
  s.out << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace app::cli
