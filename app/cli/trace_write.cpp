#include "app/cli/trace_write.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "app/platform/file.h"
#include "app/scenario/sentences.h"
#include "models/trace/measure/metrics.h"
#include "widgets/number/number.h"

namespace app::cli {

models::Result<models::trace::ExtractWindow> extract_window(const Arguments& a) {
  using Read = models::Result<models::trace::ExtractWindow>;
  models::trace::ExtractWindow out;
  if (!a.has("--window")) return Read::ok(out);
  if (!a.has("--extract")) return Read::fail("--window says what --extract keeps: give both.");
  const std::string text = a.value("--window");
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos)
    return Read::fail("--window must be two times with a colon between them, such as 0.5s:2s; it is \"" +
                      excerpt(text) + "\".");
  constexpr double week_s = 7 * 24 * 3600;
  for (const bool first : {true, false}) {
    const std::string part = first ? text.substr(0, colon) : text.substr(colon + 1);
    if (part.empty()) continue;
    const auto seconds = widgets::parse_quantity(part, "s");
    if (!seconds.error.empty()) return Read::fail(seconds.error);
    if (!(seconds.value >= 0 && seconds.value <= week_s))
      return Read::fail("--window must lie between 0 s and a week; it is \"" + excerpt(text) + "\".");
    (first ? out.from_ns : out.to_ns) = static_cast<std::int64_t>(std::llround(seconds.value * 1e9));
  }
  return Read::ok(out);
}

models::Status write_trace(const Arguments& a, const models::trace::Trace& whole,
                           const models::trace::ExtractWindow& window) {
  std::optional<models::trace::Trace> part;
  if (a.has("--extract")) {
    auto extract = models::trace::diagnosis_extract(whole, window);
    if (!extract) return models::Status::fail(extract.error);
    part = std::move(*extract);
  }
  const auto text = models::trace::to_chrome_json(part ? *part : whole);
  return text ? write_file(a.value("-o"), *text) : models::Status::fail(text.error);
}

}  // namespace app::cli
