#include <algorithm>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

constexpr int max_columns = 44;

/// The exponent of the last bit that the format keeps of `x`, which is not 0.
int last_exponent(const models::FloatFormat& f, double x) {
  return std::max(std::ilogb(x), f.emin()) - f.mantissa_bits;
}

/// The exponents of the bits of |x| that are 1, the first first.
std::vector<int> ones_of(double x) {
  std::vector<int> out;
  double rest = std::abs(x);
  while (rest > 0) {
    const int e = std::ilogb(rest);
    out.push_back(e);
    rest -= std::ldexp(1.0, e);
  }
  return out;
}

double sum_before(const Run& run, std::int64_t n) { return n < 2 ? 0 : run.stored[static_cast<std::size_t>(n - 2)]; }

WindowRow row_of(const models::FloatFormat& f, const Run& run, std::int64_t n) {
  const double before = sum_before(run, n), term = run.terms[static_cast<std::size_t>(n - 1)],
               stored = run.stored[static_cast<std::size_t>(n - 1)];
  WindowRow row;
  row.before = widgets::format_text(before, "", 6);
  row.result = std::string(term < 0 ? "\xE2\x88\x92" : "+") + widgets::format_text(std::abs(term), "", 4) + " = " +
               widgets::format_text(stored, "", 6);
  row.stalled = stored == before && term != 0;
  row.lost = stored != before + term;
  row.term = ones_of(term);
  const double shown = before != 0 ? before : stored != 0 ? stored : 1;  // An empty sum stands where it begins.
  row.top = std::ilogb(shown);
  row.last = last_exponent(f, shown);
  row.ones = ones_of(before);
  return row;
}

/// The additions before which the sum first had a new first bit, up to `n` and at most `most` of them, then `n` itself.
std::vector<std::int64_t> additions_shown(const Run& run, std::int64_t n, std::size_t most) {
  std::vector<std::int64_t> out;
  int highest = -4000;
  for (std::int64_t i = 2; i < n; ++i) {
    const double before = sum_before(run, i);
    if (before == 0 || std::ilogb(before) <= highest) continue;
    highest = std::ilogb(before);
    out.push_back(i);
  }
  const double now = sum_before(run, n);
  if (!out.empty() && now != 0 && std::ilogb(now) == std::ilogb(sum_before(run, out.back())) && out.size() >= most)
    out.pop_back();
  if (out.size() + 1 > most) out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(most - 1));
  out.push_back(n);
  return out;
}

/// "addition 257: 257 needs 9 bits, and BF16 holds 8: half-way between 256 and 258, the even one, 256, wins"
std::string words_of(const models::FloatFormat& f, const Run& run, std::int64_t n, const WindowRow& row) {
  const double exact = sum_before(run, n) + run.terms[static_cast<std::size_t>(n - 1)];
  const std::vector<int> ones = ones_of(exact);
  const int needed = ones.empty() ? 1 : ones.front() - ones.back() + 1, held = f.mantissa_bits + 1;
  const auto bits = [](int count) { return std::to_string(count) + (count == 1 ? " bit" : " bits"); };
  const std::string name(f.name), sum = widgets::format_text(exact, "", 9);
  std::string words = "addition " + widgets::format_text(static_cast<double>(n), "", 9) + ": " + sum;
  if (!row.lost)
    return words + " needs " + bits(needed) + " of the " + std::to_string(held) + " that " + name + " holds";
  if (needed <= held) return words + " is beyond the range of " + name + ", and is stored as the nearest value";
  words += " needs " + bits(needed) + ", and " + name + " holds " + std::to_string(held) + ": ";
  const double stored = run.stored[static_cast<std::size_t>(n - 1)], gap = exact - stored;
  if (2 * std::abs(gap) == std::ldexp(1.0, last_exponent(f, stored))) {  // a tie, which the even neighbour takes
    const std::string kept = widgets::format_text(stored, "", 6);
    return words + "half-way between " + kept + " and " + widgets::format_text(stored + 2 * gap, "", 6) +
           ", the even one, " + kept + ", wins";
  }
  return words + (row.stalled ? "the sum stays " + row.before : "it is rounded");
}

}  // namespace

AdderWindow window_of(const models::FloatFormat& f, const Run& run, std::int64_t n, std::size_t most_rows) {
  AdderWindow w;
  if (n < 1 || n > static_cast<std::int64_t>(run.terms.size())) return w;
  w.top = -4000;
  w.last = 4000;
  for (const std::int64_t i : additions_shown(run, n, std::max<std::size_t>(most_rows, 1))) {
    const WindowRow& row = w.rows.emplace_back(row_of(f, run, i));
    w.top = std::max({w.top, row.top, row.term.empty() ? row.top : row.term.front()});
    w.last = std::min({w.last, row.last, row.term.empty() ? row.last : row.term.front()});
  }
  ++w.top;  // room to slide into
  w.last = std::max(w.last, w.top - max_columns + 1);
  w.words = words_of(f, run, n, w.rows.back());
  return w;
}

}  // namespace chapters::precision::accumulation
