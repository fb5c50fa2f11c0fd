#include "app/content/curriculum.h"

#include "app/content/content.h"

namespace app {

double minutes_of(const LabContent& lab) {
  std::size_t words = 0;
  for (const std::string& prose : lab.prose) {
    bool inside = false;
    for (const char c : prose) {
      const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
      if (!space && !inside) ++words;
      inside = !space;
    }
  }
  return static_cast<double>(words) / 200 + 0.5 * static_cast<double>(lab.presets.size()) +
         1.5 * static_cast<double>(lab.predictions.size());
}

}  // namespace app
