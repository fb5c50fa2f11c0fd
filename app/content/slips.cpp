#include "app/content/slips.h"

#include <algorithm>
#include <cmath>

namespace app {
namespace {

/// How near to a slip an answer has to be to be taken for it.
constexpr double slip_tolerance = 0.05;

double value_of(const Slip& slip, double computed) {
  return std::isfinite(slip.times) ? slip.times * computed : slip.value;
}

double gap_between(double a, double b) { return std::abs(a - b) / std::max(std::abs(a), std::abs(b)); }

void read_slip(Reader& r, const Json& item, Prediction& question) {
  Reader one(item, "slips");
  Slip slip{one.number("times", std::nan("")), one.number("value", std::nan("")), one.text("says")};
  if (one.error().empty() && std::isfinite(slip.times) == std::isfinite(slip.value))
    one.fail("a slip has either \"times\" or \"value\"");
  if (!one.error().empty()) return r.fail(one.error());
  question.slips.push_back(std::move(slip));
}

}  // namespace

void read_slips(Reader& r, const Json& item, Prediction& question) {
  if (const auto at = item.find("slips"); at != item.end()) {
    if (!at->is_array()) return r.fail("slips must be a list of {\"times\" or \"value\", \"says\"}");
    for (const Json& one : *at) read_slip(r, one, question);
  }
  const auto at = item.find("because");
  if (at == item.end()) return;
  if (!at->is_array() || !std::all_of(at->begin(), at->end(), [](const Json& o) { return o.is_string(); }))
    return r.fail("because must be a list of sentences, one a choice");
  for (const Json& one : *at) question.because.push_back(one.get<std::string>());
}

std::string slips_fault(const Prediction& q, double computed, std::size_t choices, std::size_t right) {
  if (!q.because.empty()) {
    if (q.because.size() != choices) return "because must have one sentence a choice, empty for the right one.";
    for (std::size_t i = 0; i < choices; ++i)
      if (q.because[i].empty() != (i == right)) return "because must be empty for the right choice, and for no other.";
  }
  if (!q.slips.empty() && choices > 0) return "slips are for a number that is typed; a choice has because.";
  for (std::size_t i = 0; i < q.slips.size(); ++i) {
    const double value = value_of(q.slips[i], computed);
    if (gap_between(value, computed) <= q.tolerance) return "a slip lies within the tolerance of what is computed.";
    for (std::size_t k = 0; k < i; ++k)
      if (gap_between(value, value_of(q.slips[k], computed)) <= slip_tolerance)
        return "two slips lie within a twentieth of each other, so that the answer does not tell which it was.";
  }
  return {};
}

std::string_view slip_of(const Prediction& q, QuestionKind kind, double said, double computed) {
  if (kind == QuestionKind::choice) {
    const auto i = static_cast<std::size_t>(std::max(said, 0.0));
    return i < q.because.size() ? std::string_view(q.because[i]) : std::string_view();
  }
  if (kind != QuestionKind::number || gap_between(said, computed) <= q.tolerance) return {};
  const Slip* nearest = nullptr;
  double least = slip_tolerance;
  for (const Slip& slip : q.slips)
    if (const double gap = gap_between(said, value_of(slip, computed)); gap <= least) {
      least = gap;
      nearest = &slip;
    }
  return nearest ? std::string_view(nearest->says) : std::string_view();
}

}  // namespace app
