#include <algorithm>
#include <array>
#include <cmath>

#include "chapters/precision/accumulation/lab.h"
#include "widgets/number/number.h"

namespace chapters::precision::accumulation {
namespace {

constexpr int widest = 52;  ///< columns: more than a double can add exactly are not shown

/// The exponent of the last bit that the format keeps of `x`.
int last_exponent(const models::FloatFormat& f, double x) {
  return std::max(std::ilogb(x), f.emin()) - f.mantissa_bits;
}

/// The bits of |x| from its first one down to 2^`last`.
Addition::Row row_of(double x, int top, int last) {
  Addition::Row row;
  row.value = widgets::format_text(x, "", 7);
  row.minus = x < 0;
  if (x == 0) {
    row.bits = {0};
    return row;
  }
  const int first = std::ilogb(x);
  row.shift = top - first;
  double rest = std::abs(x);
  for (int e = first; e >= last; --e) {
    const double weight = std::ldexp(1.0, e);
    row.bits.push_back(rest >= weight ? 1 : 0);
    if (rest >= weight) rest -= weight;
  }
  return row;
}

}  // namespace

Addition addition_of(const models::FloatFormat& f, const Run& run, std::int64_t n) {
  Addition a;
  if (n < 1 || n > static_cast<std::int64_t>(run.terms.size())) return a;
  const auto i = static_cast<std::size_t>(n - 1);
  const double before = i == 0 ? 0 : run.stored[i - 1], term = run.terms[i], exact = before + term;
  const double stored = run.stored[i];
  int top = -2000;
  for (const double x : {before, term, exact, stored})
    if (x != 0) top = std::max(top, std::ilogb(x));
  if (top == -2000) top = 0;
  const int floor = top - widest + 1;
  const auto last_of = [&](double x) { return x == 0 ? floor : std::max(last_exponent(f, x), floor); };
  a.rows = {row_of(before, top, last_of(before)), row_of(term, top, last_of(term)),
            row_of(stored, top, last_of(stored))};
  a.exact = widgets::format_text(exact, "", 9);
  a.kept = stored == 0 ? f.mantissa_bits + 1 : std::max(1, top - last_of(stored) + 1);
  a.lost = stored != exact;
  a.stalled = stored == before && term != 0;
  return a;
}

void draw_adder(const Picture& picture, View& view, ImVec2 size) {
  const auto& t = widgets::theme();
  const auto painter = widgets::Painter::window();
  const auto n = static_cast<std::int64_t>(
      std::clamp(view.addition >= 1 ? std::round(view.addition) : static_cast<double>(picture.shown_first), 1.0,
                 static_cast<double>(picture.run->terms.size())));
  if (view.shown_addition != n || view.shown_version != picture.version) {
    view.shown = addition_of(*picture.format, *picture.run, n);
    view.shown_addition = n;
    view.shown_version = picture.version;
  }
  const Addition& a = view.shown;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  widgets::Line words;
  words.add("addition ").add(widgets::format(static_cast<double>(n), "", 9)).add(": exactly ").add(a.exact);
  words.add(a.stalled ? "; the term falls off, and the sum stays as it was"
            : a.lost  ? "; bits fall off, and the sum is rounded"
                      : "; every bit has a place");
  widgets::fit_text(painter, corner, words.view(), size.x, a.lost ? t.bad : t.muted, widgets::Type::small);
  const std::array<widgets::BitField, 1> sum{{{{}, 64, widgets::Tint::series(0)}}},
      term{{{{}, 64, widgets::Tint::series(1)}}};
  const std::array<std::string_view, 3> names{"sum so far", "term", "stored sum"};
  const bool minus = a.rows[1].minus != a.rows[0].minus;
  const std::array<std::string_view, 3> operations{"", minus ? "\xE2\x88\x92" : "+", "="};
  const std::array<std::span<const widgets::BitField>, 3> fields{sum, term, sum};
  std::array<widgets::BitRow, 3> rows;
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = {
        .label = names[i],
        .bits = a.rows[i].bits,
        .fields = fields[i],
        .shift = a.rows[i].shift,
        .value = a.rows[i].value,
        .operation = operations[i],
    };
  const float line = t.type(widgets::Type::small) + t.px(9);
  // The rows with their falling bits, and the words under them, fill the height.
  const float foot = t.type(widgets::Type::small) + t.px(6),
              cell = ((size.y - line - foot) / 3 - t.px(8.5f)) / (1.36f * t.scale);
  ImGui::SetCursorScreenPos({corner.x, corner.y + line});
  widgets::draw_bit_rows("adder", rows, view.adder,
                         {.kept = a.kept, .size = {size.x, size.y - line}, .cell_px = std::clamp(cell, 6.0f, 34.0f)});
}

}  // namespace chapters::precision::accumulation
