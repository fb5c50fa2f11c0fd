#include "widgets/pictures/bit_rows.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

constexpr std::string_view extra_names[] = {"guard bit", "round bit", "sticky bit"};
constexpr std::string_view extra_letters[] = {"G", "R", "S"};

/// The field that a bit is in; the count of fields when in none.
std::size_t field_of(const BitRow& row, std::size_t bit) {
  std::size_t end = 0;
  for (std::size_t f = 0; f < row.fields.size(); ++f) {
    end += row.fields[f].bits;
    if (bit < end) return f;
  }
  return row.fields.size();
}

void paint_bit(const Painter& painter, const BitCell& c, const BitRow& row, bool digits) {
  const Theme& t = theme();
  const bool one = row.bits[c.bit] != 0, lost = c.fate == BitFate::lost;
  const std::size_t field = field_of(row, c.bit);
  const ImU32 hue = lost ? t.bad : colour(field < row.fields.size() ? row.fields[field].tint : Tint{}, t);
  const float gap = c.rect.width() >= 6 ? 1.0f : 0.0f, rounding = c.rect.width() >= 10 ? t.px(2) : 0.0f;
  const ImVec2 max{c.rect.max.x - gap, c.rect.max.y - gap};
  // A one is filled and a zero is outlined, so that the digit is not needed to tell them apart.
  if (one)
    painter.rect(c.rect.min, max, hue, rounding);
  else
    painter.rect(c.rect.min, max, with_alpha(hue, 0.13f), rounding);
  if (c.rect.width() >= 5) painter.frame(c.rect.min, max, with_alpha(hue, one ? 1.0f : 0.6f), 1.0f, rounding);
  if (digits)
    painter.text({(c.rect.min.x + max.x) / 2, (c.rect.min.y + max.y - t.type(Type::small)) / 2}, one ? "1" : "0",
                 one ? text_on(hue, t) : t.muted, Type::small, Font::mono, Align::center);
}

void paint_register(const Painter& painter, const BitRowLayout& l, const BitRowOptions& o, Rect area) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  if (!(l.register_px > 0) || l.row_tops.empty()) return;
  const float top = l.row_tops.front() - t.px(3), bottom = l.row_tops.back() + l.cell + t.px(3);
  painter.line({l.register_px, top}, {l.register_px, bottom}, t.text, t.px(1.6f));
  for (std::int64_t e = 0; e < o.extra && e < 3; ++e) {
    const float x = l.register_px + l.cell * (static_cast<float>(e) + 0.5f);
    if (l.cell >= t.px(9) && top - small >= area.min.y)
      painter.text({x, top - small - t.px(1)}, extra_letters[e], t.muted, Type::small, Font::mono, Align::center);
  }
  if (l.extra_px > l.register_px) painter.dashed_line({l.extra_px, top}, {l.extra_px, bottom}, t.muted, 1.0f);
  if (l.lost == 0) return;
  Line whole, less;
  // Zeros that fall off take nothing away.
  const bool zeros = l.lost_ones == 0;
  less.add_integer(static_cast<std::int64_t>(l.lost))
      .add(l.lost == 1 ? " bit " : " bits ")
      .add(zeros ? "too far" : "lost");
  whole.add(less.view()).add(", ");
  if (zeros)
    whole.add("all 0: nothing is lost");
  else
    whole.add_integer(static_cast<std::int64_t>(l.lost_ones))
        .add(l.lost_ones == 1 ? " of them is 1" : " of them are 1");
  const float y = std::min(bottom + t.px(6), area.max.y - small);
  for (const std::string_view s : {whole.view(), less.view()}) {
    const float w = text_size(s, Type::small).x;
    if (w > area.width()) continue;
    painter.text({std::clamp(std::max(l.register_px, l.extra_px), area.min.x, area.max.x - w), y}, s,
                 zeros ? t.muted : t.bad, Type::small);
    return;
  }
}

void tip_bit(const BitCell& c, const BitRow& row, const BitRowOptions& o) {
  Line name, value;
  const std::size_t field = field_of(row, c.bit);
  name.add(row.label);
  if (field < row.fields.size()) name.add(name.length > 0 ? ", " : "").add(row.fields[field].label);
  value.add("bit ").add_integer(static_cast<std::int64_t>(row.bits.size() - 1 - c.bit));
  value.add(row.bits[c.bit] != 0 ? " is 1" : " is 0");
  const std::int64_t column = row.shift + static_cast<std::int64_t>(c.bit);
  if (c.fate == BitFate::lost) value.add("; the register cannot hold it");
  if (c.fate == BitFate::extra)
    value.add("; kept as the ").add(extra_names[std::clamp<std::int64_t>(column - o.kept, 0, 2)]);
  tip(name.view(), value.view(), row.info);
}

void record_bits(Record& record, const char* label, std::span<const BitRow> rows) {
  DataTable table{label, {"row", "bits", "shift", "value"}, {}};
  for (const BitRow& r : rows) {
    std::string bits;
    for (const std::uint8_t b : r.bits) bits += b != 0 ? '1' : '0';
    table.rows.push_back({std::string(r.label), bits, std::to_string(r.shift), std::string(r.value)});
  }
  record.tables.push_back(std::move(table));
}

/// The bits of row `r`, whose cells are `high` pixels; those that the register cannot hold fall by up to `drop`.
void place_bit_cells(const BitRow& row, std::size_t r, const BitRowOptions& o, float top, float high, float drop,
                     std::int64_t extra, BitRowLayout& out) {
  const std::int64_t shift = std::max<std::int64_t>(row.shift, 0);
  for (std::size_t b = 0; b < row.bits.size(); ++b) {
    const std::int64_t column = shift + static_cast<std::int64_t>(b);
    BitFate fate = BitFate::kept;
    if (o.kept > 0 && column >= o.kept) fate = column < o.kept + extra ? BitFate::extra : BitFate::lost;
    if (fate == BitFate::lost) {
      ++out.lost;
      out.lost_ones += row.bits[b] != 0;
    }
    const float y = top + (fate == BitFate::lost ? drop * std::clamp(o.fallen, 0.0f, 1.0f) : 0.0f);
    const float x = out.grid.min.x + out.cell * static_cast<float>(column);
    out.cells.push_back({r, b, {{x, y}, {x + out.cell, y + high}}, fate});
  }
}

/// The fields of row `r`, from left to right over its bits.
void place_bit_fields(const BitRow& row, std::size_t r, const BitRowOptions& o, float top, Measure measure,
                      BitRowLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const std::int64_t shift = std::max<std::int64_t>(row.shift, 0);
  std::size_t from = 0;
  for (std::size_t f = 0; f < row.fields.size() && from < row.bits.size(); ++f) {
    const std::size_t to = std::min(from + row.fields[f].bits, row.bits.size());
    const float x0 = out.grid.min.x + out.cell * static_cast<float>(shift + static_cast<std::int64_t>(from));
    const float x1 = out.grid.min.x + out.cell * static_cast<float>(shift + static_cast<std::int64_t>(to));
    const float w = measure(row.fields[f].label, Type::small);
    // Names stand over the first row alone: the colours carry on below.
    out.fields.push_back({r,
                          f,
                          {{x0, top - small - t.px(3)}, {x1, top - t.px(3)}},
                          r == 0 && w > 0 && w + t.px(4) <= x1 - x0 && (o.kept <= 0 || x1 <= out.register_px + 0.5f)});
    from = to;
  }
}

}  // namespace

void layout_bit_rows(std::span<const BitRow> rows, const BitRowOptions& o, Rect area, Measure measure,
                     BitRowLayout& out) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  out.cells.clear();
  out.fields.clear();
  out.row_tops.clear();
  out.lost = out.lost_ones = 0;
  out.columns = static_cast<std::size_t>(std::max<std::int64_t>(o.kept, 0) +
                                         (o.kept > 0 ? std::clamp<std::int64_t>(o.extra, 0, 3) : 0));
  float labels = 0, values = 0, operations = 0;
  bool names = false;
  for (const BitRow& r : rows) {
    const std::int64_t end = std::max<std::int64_t>(r.shift, 0) + static_cast<std::int64_t>(r.bits.size());
    out.columns = std::max(out.columns, static_cast<std::size_t>(end));
    labels = std::max(labels, measure(r.label, Type::small));
    values = std::max(values, measure(r.value, Type::small));
    operations = std::max(operations, measure(r.operation, Type::small));
    names = names || std::any_of(r.fields.begin(), r.fields.end(), [](const BitField& f) { return !f.label.empty(); });
  }
  const float sign = operations > 0 ? operations + t.px(8) : 0.0f;
  const float gutter = label_gutter(labels, area.width(), 0.25f) + sign;
  const float columns = static_cast<float>(std::max<std::size_t>(out.columns, 1));
  const bool with_values = values > 0 && (area.width() - gutter - values - t.px(10)) / columns >= t.px(8);
  const float right = with_values ? values + t.px(10) : 0.0f;
  out.cell = std::min(t.px(o.cell_px), (area.width() - gutter - right) / columns);
  if (out.cell >= 2) out.cell = std::floor(out.cell);
  out.grid.min = {area.min.x + gutter, area.min.y};
  out.grid.max = {out.grid.min.x + out.cell * columns, area.max.y};
  out.value_left = with_values ? out.grid.max.x + t.px(10) : 0.0f;
  out.label_right = area.min.x + gutter - t.px(4);
  out.digits = out.cell >= measure("0", Type::small) + t.px(4) && out.cell >= small + t.px(1);

  // Cells are squares while they have room, and never flatter than 4 px; rows that do not fit are left out.
  const float head = (names || o.extra > 0 ? small + t.px(4) : 0.0f), foot = o.kept > 0 ? small + t.px(4) : 0.0f;
  const float drop = std::floor(out.cell * 0.35f);
  const float high = std::max(out.cell, std::min(t.px(o.cell_px), small + t.px(2)));
  const float pitch = high + drop + t.px(8);
  const float room = area.height() - head - foot;
  out.shown = std::min(rows.size(), static_cast<std::size_t>(std::max(0.0f, (room + t.px(8)) / pitch)));
  out.left_out = rows.size() - out.shown;
  if (out.left_out > 0 && out.shown > 0 && room - static_cast<float>(out.shown) * pitch < small) {
    --out.shown;
    ++out.left_out;
  }
  out.register_px = o.kept > 0 ? out.grid.min.x + out.cell * static_cast<float>(o.kept) : 0.0f;
  const auto extra = std::clamp<std::int64_t>(o.kept > 0 ? o.extra : 0, 0, 3);
  out.extra_px = o.kept > 0 ? out.register_px + out.cell * static_cast<float>(extra) : 0.0f;
  for (std::size_t r = 0; r < out.shown; ++r) {
    const float top = std::floor(area.min.y + head + static_cast<float>(r) * pitch);
    out.row_tops.push_back(top);
    const BitRow& row = rows[r];
    place_bit_cells(row, r, o, top, high, drop, extra, out);
    place_bit_fields(row, r, o, top, measure, out);
  }
}

bool draw_bit_rows(const char* label, std::span<const BitRow> rows, BitRowView& view, const BitRowOptions& o) {
  const Theme& t = theme();
  const float small = t.type(Type::small);
  const float needed = static_cast<float>(std::max<std::size_t>(rows.size(), 1)) * (t.px(o.cell_px) * 1.4f + t.px(6)) +
                       2 * small + t.px(10);
  const Rect area = canvas(label, {o.size.x, o.size.y > 0 ? o.size.y : needed}, {t.px(40), t.px(24)});
  const bool hovered = ImGui::IsItemHovered();
  BitRowLayout& l = view.layout;
  layout_bit_rows(rows, o, area, measure_text, l);
  const Painter painter = Painter::window();
  if (Record* record = painter.record()) record_bits(*record, label, rows);
  if (rows.empty()) {
    paint_nothing(painter, area, "Nothing to show: there are no bits.");
    return false;
  }
  for (const BitFieldPlace& f : l.fields)
    if (f.named)
      painter.text({(f.rect.min.x + f.rect.max.x) / 2, f.rect.min.y}, rows[f.row].fields[f.field].label, t.muted,
                   Type::small, Font::sans, Align::center);
  for (const BitCell& c : l.cells) paint_bit(painter, c, rows[c.row], l.digits);
  paint_register(painter, l, o, area);
  for (std::size_t r = 0; r < l.shown; ++r) {
    const float high = l.cells.empty() ? l.cell : std::max(l.cell, std::min(t.px(o.cell_px), small + t.px(2)));
    const float y = l.row_tops[r] + (high - small) / 2;
    const float sign = rows[r].operation.empty() ? 0.0f : text_size(rows[r].operation, Type::small).x + t.px(8);
    if (sign > 0) painter.text({l.label_right, y}, rows[r].operation, t.text, Type::small, Font::bold, Align::right);
    fit_text(painter, {area.min.x, y}, rows[r].label, l.label_right - sign - area.min.x, t.text, Type::small);
    if (rows[r].operation == "=" && r > 0)
      painter.line({l.grid.min.x, l.row_tops[r] - t.px(3)}, {l.grid.max.x, l.row_tops[r] - t.px(3)}, t.text,
                   t.px(1.2f));
    if (l.value_left > 0)
      paint_whole(painter, {l.value_left, y}, rows[r].value, area.max.x - l.value_left, t.text, Type::small,
                  Align::left, Font::mono);
  }
  if (l.left_out > 0 && l.shown > 0) {
    Line more;
    more.add("and ")
        .add_integer(static_cast<std::int64_t>(l.left_out))
        .add(l.left_out == 1 ? " more row" : " more rows");
    paint_whole(painter, {area.min.x, area.max.y - small}, more.view(),
                l.lost > 0 ? l.register_px - area.min.x : area.width(), t.muted);
  }
  if (!hovered) return false;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto under =
      std::find_if(l.cells.begin(), l.cells.end(), [&](const BitCell& c) { return c.rect.contains(mouse); });
  if (under == l.cells.end()) return false;
  tip_bit(*under, rows[under->row], o);
  return true;
}

}  // namespace widgets
