#include <algorithm>

#include "chapters/kernels/layouts/lab.h"
#include "models/gpu/access/warp_access.h"
#include "models/gpu/layout/bank_cost.h"

namespace chapters::kernels::layouts {
namespace {

namespace gpu = models::gpu;
using gpu::CuteLayout;

double as_number(std::int64_t n) { return static_cast<double>(n); }

gpu::LayoutQuestion question_of(const Inputs& in) {
  return {.operation = in.operation,
          .a = in.a,
          .b = in.b,
          .shape = in.shape,
          .coordinate = in.coordinate,
          .n = in.n,
          .index = in.index,
          .swizzle = {static_cast<int>(in.swizzle_bits), static_cast<int>(in.swizzle_base),
                      static_cast<int>(in.swizzle_shift)}};
}

/// What is drawn: the result; the shape of a coordinate; A where the operation is refused.
CuteLayout shown_layout(const gpu::LayoutQuestion& q, const gpu::LayoutAnswer& answer) {
  if (answer.has_layout) return answer.layout;
  const bool of_shape = q.operation == gpu::LayoutOperation::idx2crd;
  const auto read = gpu::parse_layout(of_shape ? q.shape : q.a);
  return read ? *read : CuteLayout::leaf(64, 1);
}

/// Rows are the first mode, columns the others; a layout of one mode is folded into rows of 8.
struct Grid {
  std::int64_t rows = 1, columns = 1, size = 1;
  bool folded = false;

  explicit Grid(const CuteLayout& layout) : size(layout.size()), folded(layout.rank() == 1) {
    rows = folded ? (size + 7) / 8 : layout.mode(0).size();
    columns = folded ? std::min<std::int64_t>(size, 8) : size / rows;
  }
  std::int64_t element(std::int64_t row, std::int64_t column) const {
    return folded ? 8 * row + column : row + rows * column;
  }
};

/// `count` cells from `first` on, `step` apart, read by a lane each.
std::int64_t lanes_cost(const CellMap& map, int first, int step, int count, int bytes, std::vector<int>* wavefront,
                        std::int64_t* ideal) {
  std::vector<std::int64_t> addresses;
  for (int i = 0; i < count; ++i) {
    const auto cell = static_cast<std::size_t>(first + i * step);
    if (cell < map.places.size() && map.places[cell] >= 0) addresses.push_back(map.places[cell] * bytes);
  }
  auto cost = gpu::bank_cost(addresses, bytes);
  if (wavefront) *wavefront = std::move(cost.wavefront);
  if (ideal) *ideal = cost.ideal;
  return cost.wavefronts;
}

/// Places that the held column has, each counted once.
std::int64_t distinct_cells(const CellMap& map, const Run& run) {
  std::vector<std::int64_t> places;
  for (int row = 0; row < run.rows; ++row) {
    const auto cell = static_cast<std::size_t>(row * run.columns + run.held);
    if (cell < map.places.size() && map.places[cell] >= 0) places.push_back(map.places[cell]);
  }
  std::sort(places.begin(), places.end());
  return std::unique(places.begin(), places.end()) - places.begin();
}

std::int64_t worst_row(const CellMap& map, const Run& run, int bytes) {
  std::int64_t worst = 0;
  for (int row = 0; row < run.rows; ++row) {
    worst = std::max(worst, lanes_cost(map, row * run.columns, 1, run.columns, bytes, nullptr, nullptr));
  }
  return worst;
}

/// The longest run of neighbours in a row whose places follow one another.
std::int64_t longest_run(const CellMap& map, const Run& run) {
  std::int64_t best = 1;
  for (int row = 0; row < run.rows; ++row) {
    std::int64_t now = 1;
    for (int column = 1; column < run.columns; ++column) {
      const auto at = static_cast<std::size_t>(row * run.columns + column);
      now = map.places[at] >= 0 && map.places[at] == map.places[at - 1] + 1 ? now + 1 : 1;
      best = std::max(best, now);
    }
  }
  return best;
}

void map_cells(const Inputs& in, const CuteLayout& layout, std::int64_t offset, const gpu::Swizzle& swizzle,
               Outputs& out, Run& run) {
  const Grid grid(layout);
  out.rows = grid.rows;
  out.columns = grid.columns;
  run.rows = static_cast<int>(std::min<std::int64_t>(grid.rows, max_drawn));
  run.columns = static_cast<int>(std::min<std::int64_t>(grid.columns, max_drawn));
  run.held = static_cast<int>(std::min<std::int64_t>(in.column, run.columns - 1));
  out.held_column = run.held;
  for (int row = 0; row < run.rows; ++row) {
    for (int column = 0; column < run.columns; ++column) {
      const bool there = grid.element(row, column) < grid.size;
      const std::int64_t place = there ? layout(grid.element(row, column)) + offset : -1;
      run.maps[0].places.push_back(there ? row * grid.columns + column : -1);
      run.maps[1].places.push_back(place);
      run.maps[2].places.push_back(there ? swizzle(place) : -1);
    }
  }
  const int bytes = bytes_of(in.cell_bytes);
  for (auto& map : run.maps) {
    for (const auto place : map.places) {
      map.banks.push_back(
          static_cast<std::int8_t>(std::max<std::int64_t>(0, place) * bytes / gpu::bank_bytes % gpu::shared_banks));
    }
    map.wavefronts = lanes_cost(map, run.held, run.columns, run.rows, bytes, &map.wavefront, &out.column_ideal);
  }
  out.column_by_rows = run.maps[0].wavefronts;
  out.column_in_layout = run.maps[1].wavefronts;
  out.column_cells = distinct_cells(run.maps[2], run);
  out.column_swizzled = run.maps[2].wavefronts;
  out.row_in_layout = worst_row(run.maps[1], run, bytes);
  out.row_swizzled = worst_row(run.maps[2], run, bytes);
  out.contiguous = longest_run(run.maps[2], run);
}

/// The first elements, or those around the one that is wrong.
void list_elements(const CuteLayout& layout, const gpu::LayoutAnswer& answer, Outputs& out) {
  constexpr std::int64_t most = 32;
  const std::int64_t first = std::max<std::int64_t>(0, answer.wrong_at - 6);
  for (std::int64_t i = first; i < std::min(layout.size(), first + most); ++i) {
    ElementRow row{.element = i, .coordinate = gpu::text_of(gpu::coordinate_of(layout, i)), .place = 0};
    row.place =
        as_number(i < static_cast<std::int64_t>(answer.indices.size()) ? answer.indices[static_cast<std::size_t>(i)]
                                                                       : layout(i) + answer.offset);
    if (answer.compared && (i < answer.wrong_at || answer.wrong_at < 0)) row.promised = row.place;
    if (i == answer.wrong_at) row.promised = as_number(answer.wanted);
    out.elements.push_back(std::move(row));
  }
}

PartsMap parts_map(const CuteLayout& layout, std::int64_t offset, const gpu::LayoutParts& parts, bool of_result) {
  const Grid grid(layout);
  PartsMap out{.rows = static_cast<int>(std::min<std::int64_t>(grid.rows, max_drawn)),
               .columns = static_cast<int>(std::min<std::int64_t>(grid.columns, max_drawn)),
               .places = {},
               .parts = {}};
  for (int row = 0; row < out.rows; ++row)
    for (int column = 0; column < out.columns; ++column) {
      const bool there = grid.element(row, column) < grid.size;
      const std::int64_t place = there ? layout(grid.element(row, column)) + offset : -1;
      out.places.push_back(place);
      out.parts.push_back(!there ? -1 : of_result ? parts.in_result(place) : parts.in_a(place));
    }
  return out;
}

/// A and the result side by side; a complement's side is the memory that both fill.
void map_parts(const gpu::LayoutQuestion& q, const gpu::LayoutAnswer& answer, Run& run) {
  const bool of_a = q.operation == gpu::LayoutOperation::eval || q.operation == gpu::LayoutOperation::swizzled_layout;
  const auto a = gpu::parse_layout(q.a);
  if (of_a || !gpu::layout_needs(q.operation).a || !answer.has_layout || !a) return;
  const gpu::LayoutParts parts = gpu::layout_parts(q, answer);
  run.parts = parts.kind;
  run.sides[0] = parts_map(*a, 0, parts, false);
  const bool memory = parts.kind == gpu::PartKind::room;
  const std::int64_t places = parts.parts.empty() ? 1 : parts.parts.back().first + 1;
  run.sides[1] = memory ? parts_map(CuteLayout::leaf(places, 1), 0, parts, true)
                        : parts_map(answer.layout, answer.offset, parts, true);
}

void hold_fragment(const Inputs& in, Outputs& out, Run& run) {
  const auto* f = run.fragment = fragment_of(in.fragment);
  run.lane = static_cast<int>(std::min<std::int64_t>(in.lane, f->threads - 1));
  run.fragment_rows = f->rows;
  run.fragment_columns = f->cols * f->matrices;
  out.fragment_rows = f->rows;
  out.fragment_columns = run.fragment_columns;
  out.fragment_registers = f->registers();
  out.fragment_values = f->values;
  run.holders.assign(static_cast<std::size_t>(run.fragment_rows * run.fragment_columns), {});
  for (int thread = 0; thread < f->threads; ++thread) {
    for (int value = 0; value < f->values; ++value) {
      const auto at = gpu::fragment_element(*f, thread, value);
      const auto cell = static_cast<std::size_t>(at.row * run.fragment_columns + at.matrix * f->cols + at.col);
      run.holders[cell] = {static_cast<std::int16_t>(thread),
                           static_cast<std::int16_t>(gpu::fragment_register(*f, value))};
      if (thread != run.lane || value >= 8) continue;
      out.held_elements +=
          (value == 0 ? "(" : " (") + std::to_string(at.row) + "," + std::to_string(at.matrix * f->cols + at.col) + ")";
    }
  }
  if (f->values > 8) out.held_elements += " and " + std::to_string(f->values - 8) + " more";
}

void state_answer(const gpu::LayoutAnswer& answer, Outputs& out) {
  out.status = answer.status;
  out.result = answer.text;
  out.why = answer.reason;
  out.over_covers = answer.over_covers;
  out.compared = answer.compared;
  if (answer.status != gpu::LayoutStatus::refused) {
    out.size = as_number(answer.size);
    out.cosize = as_number(answer.cosize);
  }
  for (const auto index : answer.indices) out.indices.push_back(as_number(index));
  if (answer.wrong_at < 0) return;
  out.wrong_at = as_number(answer.wrong_at);
  out.gives = as_number(answer.gives);
  out.promised_place = as_number(answer.wanted);
}

}  // namespace

int bytes_of(CellBytes cell) { return 2 << static_cast<int>(cell); }

const gpu::Fragment* fragment_of(FragmentChoice choice) {
  struct Named {
    std::string_view instruction, operand;
  };
  static constexpr std::array<Named, fragment_choice_count> named{{
      {"mma.sync.m16n8k16.f16/bf16", "A"},
      {"mma.sync.m16n8k16.f16/bf16", "B"},
      {"mma.sync.m16n8k16.f16/bf16", "C/D"},
      {"mma.sync.m16n8k8.tf32", "A"},
      {"mma.sync.m16n8k8.tf32", "B"},
      {"mma.sync.m16n8k32.e4m3/e5m2", "A"},
      {"mma.sync.m16n8k32.s8/u8", "B"},
      {"mma.sync.m16n8k64.s4/u4", "A"},
      {"mma.sync.m8n8k4.f64", "C/D"},
      {"wgmma.m64k16 (16-bit)", "A from registers"},
      {"wgmma.m64n64", "D accumulator"},
      {"ldmatrix.m8n8.x4.b16", "destination"},
      {"ldmatrix.m8n8.x4.trans.b16", "destination"},
      {"tcgen05.ld.16x256b.x1", "destination registers (one warp)"},
      {"wmma.m16n16 (observed)", "accumulator"},
  }};
  const auto& name = named[static_cast<std::size_t>(choice)];
  return gpu::find_fragment(name.instruction, name.operand);
}

Computed compute(const Inputs& in) {
  Outputs out;
  auto run = std::make_shared<Run>();
  const auto question = question_of(in);
  auto answer = gpu::answer_layout(question);
  if (!answer) {
    out.reason = answer.error;
    return {std::move(out), nullptr};
  }
  if (!question.swizzle.admissible() && answer->status != gpu::LayoutStatus::refused) {
    const auto bare = gpu::answer_layout({.operation = gpu::LayoutOperation::swizzle, .swizzle = question.swizzle});
    *answer = {.status = gpu::LayoutStatus::refused, .reason = bare ? bare->reason : bare.error};
  }
  const auto layout = shown_layout(question, *answer);
  if (answer->has_layout && in.operation == gpu::LayoutOperation::slice) out.offset = as_number(answer->offset);
  state_answer(*answer, out);
  const auto swizzle = question.swizzle.admissible() ? question.swizzle : gpu::Swizzle{.bits = 0};
  map_cells(in, layout, answer->offset, swizzle, out, *run);
  map_parts(question, *answer, *run);
  list_elements(layout, *answer, out);
  out.cpp = gpu::cpp_text(layout, swizzle);
  hold_fragment(in, out, *run);
  return {std::move(out), std::move(run)};
}

}  // namespace chapters::kernels::layouts
