#include "chapters/gallery/widgets/rooms.h"

namespace chapters::gallery::widgets {
namespace {

using ::widgets::theme;

std::string_view value_of(const void* context, std::string_view key, ::widgets::NumberText& scratch) {
  const auto& s = *static_cast<const Sample*>(context);
  const auto live = ::widgets::split_live_key(key);
  if (live.name == "bytes")
    return scratch = ::widgets::format(s.table[0], live.unit.empty() ? "B" : live.unit, 3, live.prefix);
  if (live.name == "time_s") return scratch = ::widgets::format(s.table[1], "s");
  if (live.name == "rate") return scratch = ::widgets::format(s.table[0] / s.table[1], "B/s");
  return {};
}

void cell(const void* context, std::size_t row, std::size_t column, ::widgets::TableCell& out) {
  const auto& s = *static_cast<const Sample*>(context);
  if (column == 0) {
    out.text = s.names[row];
    return;
  }
  out.value = s.table[row * 3 + column - 1];
  constexpr std::string_view units[] = {"B", "s", ""};
  out.number = ::widgets::format(out.value, units[column - 1]);
}

::widgets::RowMark mark(const void* context, std::size_t row) {
  const auto& s = *static_cast<const Sample*>(context);
  const auto& t = theme();
  const double rate = s.table[row * 3] / s.table[row * 3 + 1];
  if (rate > 1e11) return {::widgets::Marker::circle, t.of(::widgets::Meaning::memory_bound)};
  if (rate > 1e8) return {::widgets::Marker::square, t.of(::widgets::Meaning::compute_bound)};
  return {::widgets::Marker::triangle, t.of(::widgets::Meaning::launch_bound)};
}

constexpr std::string_view formulas[] = {
    "t = \\max(\\frac{\\text{bytes}}{\\text{bandwidth}} \\text{ , } \\frac{\\text{flops}}{\\eta \\cdot R}) + "
    "\\sum_{i=1}^{n} L_{i}",
    "\\frac{\\val{bytes}}{\\val{time_s}} = \\val{rate}",
    "\\sqrt{\\frac{2}{\\pi}} \\cdot (x + 0.044715 x^{3}) \\le \\lceil \\frac{M}{128} \\rceil \\times \\lfloor "
    "\\frac{N}{256} \\rfloor",
    "E = \\frac{1 - \\alpha^{k+1}}{1 - \\alpha} \\quad \\text{tokens}, \\quad \\alpha \\to 1 \\ne \\infty",
};

constexpr std::string_view markdown =
    R"(## Prose

Markdown with **strong**, *emphasized* and `code` words, live values such as {bytes}, {bytes.bin} and {time_s}, formulas
$I = \frac{\text{flops}}{\text{bytes}}$ in the line, )"
    R"(and links to [another lab](lab:roofline/iron-law) or [a page](https://arxiv.org/abs/2205.14135).

1. a list with numbers
2. and a second entry
   - with one inside

> A quotation keeps its distance.

| level | bytes | latency |
|:--|--:|--:|
| registers | 33 MB | 1 cycle |
| HBM | 80 GB | 500 cycles |

```cuda
__global__ void axpy(float a, const float* x, float* y) { y[threadIdx.x] += a * x[threadIdx.x]; }
```
)";

}  // namespace

void draw_texts(::widgets::Stage& stage, const Sample& s, Views& v) {
  const ::widgets::ValueSource values{&s, value_of, nullptr};
  stage.panel("formulas", {.title = "formula", .least = {420, 210}, .answers = true}, [&](ImVec2 whole) {
    const ImVec2 size = shows("fractions, scripts, roots, sums, fences that grow, live values in them", whole);
    constexpr const char* ids[] = {"formula 1", "formula 2", "formula 3", "formula 4"};
    ImVec2 at = ImGui::GetCursorScreenPos();
    const float bottom = at.y + size.y;
    for (std::size_t i = 0; i < v.formulas.size(); ++i) {
      // One that has no room any more is left out whole.
      if (i > 0 && at.y + theme().px(52) > bottom) return;
      ImGui::SetCursorScreenPos(at);
      at.y +=
          ::widgets::draw_formula(ids[i], formulas[i], values, v.formulas[i], {.max_width = size.x}).y + theme().px(6);
    }
  });
  stage.panel("table", {.title = "table", .least = {420, 180}, .scrolls = true}, [&](ImVec2 whole) {
    const ImVec2 size =
        shows("sorts by a click on its head, drops columns, scrolls, selects, copies with Ctrl+C", whole);
    static constexpr ::widgets::TableColumn columns[] = {{.title = "kernel", .number = false, .code = true},
                                                         {.title = "moved", .value_unit = "B"},
                                                         {.title = "time", .value_unit = "s"},
                                                         {.title = "calls"}};
    ::widgets::TableSource source;
    source.context = &s;
    source.rows = s.names.size();
    source.version = 1 + s.names.size() + static_cast<std::uint64_t>(s.table[0] * 1e3);
    source.cell = cell;
    source.key = [](const void* context, std::size_t row, std::size_t column) {
      const auto& sample = *static_cast<const Sample*>(context);
      return column == 0 ? std::numeric_limits<double>::quiet_NaN() : sample.table[row * 3 + column - 1];
    };
    source.mark = mark;
    ::widgets::draw_table("table", columns, source, v.table, size);
  });
  stage.panel("prose", {.title = "prose", .least = {420, 180}, .scrolls = true}, [&](ImVec2 size) {
    if (ImGui::BeginChild("prose of the gallery", size))
      ::widgets::draw_prose("prose in the gallery", markdown, values, v.prose, ImGui::GetContentRegionAvail().x);
    ImGui::EndChild();
  });
}

}  // namespace chapters::gallery::widgets
