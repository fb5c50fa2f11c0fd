#include "app/explore/known_figures.h"

#include <cmath>

#include "chapters/mechanism/registry.h"
#include "widgets/number/number.h"

namespace app {
namespace {

/// By how much a figure may differ from the number that was typed and still read as it: half of its last digit, as a
/// share of the number. Negative where it has no digit but zeros.
double half_digit_share(std::string_view typed) {
  double number = 0;
  bool point = false;
  for (const char c : typed) {
    if (c >= '0' && c <= '9') {
      number = 10 * number + (c - '0');
    } else if (c == '.' && !point) {
      point = true;
    } else if (c != ',' && c != '-' && c != '+') {
      break;
    }
  }
  return number > 0 ? 0.5 / number : -1;
}

}  // namespace

std::vector<KnownFigure> known_figures(chapters::Progress& progress) {
  std::vector<KnownFigure> out;
  const auto labs = chapters::all_labs();
  for (std::size_t i = 0; i < labs.size(); ++i) {
    const auto lab = labs[i].make();
    if (lab->info().hidden) continue;
    chapters::Progress own;  // a lab's own fraction would move to and fro
    if (progress.cancelled) return {};
    lab->compute_facts(own);
    progress.fraction = static_cast<double>(i + 1) / static_cast<double>(labs.size());
    if (!lab->reason().empty()) continue;
    for (const chapters::Field& f : lab->outputs()) {
      if (!f.is_number()) continue;
      if (f.spec.unit.empty() || !std::isfinite(f.number())) continue;
      out.push_back({std::string(labs[i].id), std::string(f.key), std::string(f.spec.label), std::string(f.spec.unit),
                     f.number()});
    }
  }
  return out;
}

std::vector<const KnownFigure*> figures_that_read(const std::vector<KnownFigure>& known, std::string_view typed) {
  std::vector<const KnownFigure*> out;
  const double share = half_digit_share(typed);
  if (share < 0 || widgets::parse_quantity(typed, "").error.empty()) return out;
  for (const KnownFigure& figure : known) {
    const auto said = widgets::parse_quantity(typed, figure.unit);
    if (said.error.empty() && std::abs(figure.value - said.value) <= share * std::abs(said.value) * (1 + 1e-9))
      out.push_back(&figure);
  }
  return out;
}

}  // namespace app
