#include "widgets/plot/plot_reference.h"

namespace widgets {
namespace {

PlotReference* gathered = nullptr;
const PlotReference* shown = nullptr;

}  // namespace

std::uint64_t reference_key(std::string_view id, std::string_view a, std::string_view b) {
  std::uint64_t h = 0xCBF29CE484222325u;
  for (const std::string_view part : {id, a, b}) {
    for (const char c : part) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    h = (h ^ 0x1F) * 0x100000001B3u;
  }
  return h;
}

GatherReference::GatherReference(PlotReference& into) {
  static std::uint64_t gatherings = 0;
  into = {};
  into.serial = ++gatherings;
  gathered = &into;
}
GatherReference::~GatherReference() { gathered = nullptr; }
ShowReference::ShowReference(const PlotReference* reference) { shown = reference; }
ShowReference::~ShowReference() { shown = nullptr; }

PlotReference* reference_gathered() { return gathered; }
const PlotReference* reference_in_sight() { return shown; }

const PlotReference::Entry* reference_shown(std::uint64_t key) {
  if (!shown) return nullptr;
  const auto at = shown->plots.find(key);
  return at == shown->plots.end() ? nullptr : &at->second;
}

const double* reference_total(std::uint64_t key) {
  if (!shown) return nullptr;
  const auto at = shown->totals.find(key);
  return at == shown->totals.end() ? nullptr : &at->second;
}

}  // namespace widgets
