#include <algorithm>
#include <numeric>

#include "chapters/kernels/coalescing/lab.h"
#include "chapters/mechanism/catalog.h"
#include "models/gpu/occupancy.h"

namespace chapters::kernels::coalescing {

namespace gpu = models::gpu;

std::int64_t width_of(const Inputs& in) { return std::int64_t{1} << static_cast<int>(in.width_bytes); }
std::int64_t element_of(const Inputs& in) {
  const std::int64_t element = element_sizes[static_cast<std::size_t>(in.element_bytes)];
  return element == 0 ? width_of(in) : element;
}

namespace {

constexpr auto lane_count = static_cast<std::size_t>(gpu::warp_lanes);

/// The requests of all warps of the block, or why there are none.
struct Requests {
  std::vector<gpu::LaneAddresses> warps;
  std::string expression;
  std::string error;
};

Requests refused(std::string why) { return {{}, {}, std::move(why)}; }

std::int64_t threads_of(const Inputs& in) { return in.block_width * in.block_height; }

/// Thread i of the grid takes stride * i + offset.
Requests strided(const Inputs& in) {
  Requests out;
  const std::int64_t threads = threads_of(in), element = element_of(in);
  const std::int64_t first = in.block_index * threads;
  for (std::int64_t warp = 0; warp * gpu::warp_lanes < threads; ++warp) {
    gpu::LaneAddresses& a = out.warps.emplace_back();
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      const std::int64_t tid = warp * gpu::warp_lanes + static_cast<std::int64_t>(lane);
      a[lane] = tid < threads ? element * (in.stride * (first + tid) + in.offset) : gpu::inactive_lane;
    }
  }
  return out;
}

Requests by_expression(const Inputs& in) {
  const auto index = gpu::read_index(in.expression);
  if (!index) return refused(index.error);
  Requests out;
  const std::int64_t element = element_of(in);
  const gpu::BlockShape shape{.width = in.block_width, .height = in.block_height};
  for (std::int64_t warp = 0; warp * gpu::warp_lanes < threads_of(in); ++warp) {
    const auto a = gpu::lane_addresses(*index, shape, in.block_index, warp, element, element * in.offset);
    if (!a) return refused((warp > 0 ? "Warp " + std::to_string(warp) + ": " : std::string()) + a.error);
    out.warps.push_back(*a);
  }
  for (const char c : index->text) out.expression += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return out;
}

Requests by_addresses(const Inputs& in) {
  auto a = gpu::read_addresses(in.addresses);
  if (!a) return refused(a.error);
  for (std::int64_t& address : *a)
    if (address != gpu::inactive_lane) address += in.offset * element_of(in);
  return {{*a}, {}, {}};
}

Requests requests_of(const Inputs& in) {
  if (in.access == Access::addresses) return by_addresses(in);
  if (threads_of(in) > 1024) {
    return refused("A block has at most 1,024 threads, and " + std::to_string(in.block_width) + " × " +
                   std::to_string(in.block_height) + " are " + std::to_string(threads_of(in)) +
                   ": set fewer rows or fewer threads in a row.");
  }
  Requests out = in.access == Access::strided ? strided(in) : by_expression(in);
  for (std::size_t warp = 0; warp < out.warps.size() && out.error.empty(); ++warp)
    if (const auto checked = gpu::check_access(out.warps[warp], width_of(in)); !checked)
      out.error = (warp > 0 ? "Warp " + std::to_string(warp) + ": " : std::string()) + checked.error;
  return out;
}

void set_rates(const Inputs& in, Outputs& out) {
  out.ideal_time_s = in.wanted_bytes / out.bandwidth_bytes_per_s;
  if (out.block.sectors == 0) return;
  const double share =
      static_cast<double>(out.block.useful_bytes) / static_cast<double>(gpu::sector_bytes * out.block.sectors);
  out.block_efficiency_percent = 100 * share;
  out.useful_bytes_per_s = share * out.bandwidth_bytes_per_s;
  out.time_s = in.wanted_bytes / out.useful_bytes_per_s;
}

void set_warp(const gpu::LaneAddresses& addresses, const gpu::GlobalAccess& w, Outputs& out) {
  out.sectors = w.sectors;
  out.lines = w.lines;
  out.active = w.active;
  out.fetched_bytes = static_cast<double>(w.fetched_bytes);
  out.useful_bytes = static_cast<double>(w.useful_bytes);
  out.requested_bytes = static_cast<double>(w.requested_bytes);
  out.ideal_sectors = (w.useful_bytes + gpu::sector_bytes - 1) / gpu::sector_bytes;
  if (w.active == 0) return;
  out.efficiency = w.efficiency;
  out.efficiency_percent = 100 * w.efficiency;
  std::int64_t first = gpu::address_most, last = 0;
  for (const std::int64_t a : addresses) {
    if (a == gpu::inactive_lane) continue;
    first = std::min(first, a);
    last = std::max(last, a);
  }
  out.first_byte = static_cast<double>(first);
  out.span_bytes = static_cast<double>(last - first + w.requested_bytes / w.active);
}

OtherBar bar_of(std::int64_t value, const gpu::LaneAddresses& addresses, std::int64_t width) {
  OtherBar bar{.value = value};
  const auto access = gpu::global_access(addresses, width);
  bar.faults = !access;
  if (!access) return bar;
  bar.sectors = access->sectors;
  bar.useful_sectors = static_cast<double>(access->useful_bytes) / static_cast<double>(gpu::sector_bytes);
  return bar;
}

void add_bars(const Inputs& in, const gpu::LaneAddresses& addresses, Run& run) {
  const std::int64_t width = width_of(in), element = element_of(in);
  for (std::int64_t offset = 0; offset <= 8; ++offset) {
    gpu::LaneAddresses moved = addresses;
    for (std::int64_t& a : moved)
      if (a != gpu::inactive_lane) a += element * (offset - in.offset);
    run.offsets.push_back(bar_of(offset, moved, width));
  }
  if (in.access != Access::strided) return;
  const std::int64_t first = in.block_index * threads_of(in) + in.warp_index * gpu::warp_lanes;
  for (std::int64_t stride = 0; stride <= 16; ++stride) {
    gpu::LaneAddresses other = addresses;
    for (std::size_t lane = 0; lane < lane_count; ++lane)
      if (other[lane] != gpu::inactive_lane)
        other[lane] = element * (stride * (first + static_cast<std::int64_t>(lane)) + in.offset);
    run.strides.push_back(bar_of(stride, other, width));
  }
}

/// Well-known accesses; their indices count loads.
struct KnownAccess {
  std::string_view name, label, expression;
  std::int64_t (*index)(std::int64_t tid);
};
constexpr KnownAccess known_accesses[] = {
    {"In a row, or a struct of arrays", "i", "tid", [](std::int64_t i) { return i; }},
    {"Moved by one", "i+1", "tid + 1", [](std::int64_t i) { return i + 1; }},
    {"Every second", "2i", "2 * tid", [](std::int64_t i) { return 2 * i; }},
    {"One field of a struct of three", "3i", "3 * tid", [](std::int64_t i) { return 3 * i; }},
    {"One field of a struct of four", "4i", "4 * tid", [](std::int64_t i) { return 4 * i; }},
    {"Every 32nd", "32i", "32 * tid", [](std::int64_t i) { return 32 * i; }},
    {"Down a column of 1,024", "1024i", "1024 * tid", [](std::int64_t i) { return 1024 * i; }},
    {"8 × 4 threads on rows of 1,024", "8x4", "1024 * (tid / 8) + tid % 8",
     [](std::int64_t i) { return 1024 * (i / 8) + i % 8; }},
    {"Backwards", "255-i", "255 - tid", [](std::int64_t i) { return 255 - i; }},
    {"Two lanes, one element", "i/2", "tid / 2", [](std::int64_t i) { return i / 2; }},
    {"All one element", "0", "0", [](std::int64_t) { return std::int64_t{0}; }},
    {"Scattered over 4,096", "any", "tid * 2654435761 % 4096", [](std::int64_t i) { return i * 2654435761 % 4096; }}};

void add_others(const Inputs& in, Run& run) {
  const std::int64_t width = width_of(in);
  const bool stridden = in.access == Access::strided;
  for (const KnownAccess& k : known_accesses) {
    std::array<gpu::LaneAddresses, 8> warps;
    for (std::size_t i = 0; i < 256; ++i)
      warps[i / lane_count][i % lane_count] = width * k.index(static_cast<std::int64_t>(i));
    const auto first = gpu::global_access(warps[0], width);
    if (!first) continue;
    const gpu::BlockAccess block = gpu::block_access(warps, width);
    if (!stridden) {
      OtherBar bar = bar_of(0, warps[0], width);
      bar.label = k.label;
      bar.expression = k.expression;
      run.strides.push_back(bar);
    }
    run.others.push_back({std::string(k.name), std::string(k.expression), static_cast<double>(first->sectors),
                          static_cast<double>(first->lines), 100 * first->efficiency,
                          static_cast<double>(block.sectors), static_cast<double>(block.ideal_sectors())});
  }
}

void add_lanes(const Inputs& in, Run& run) {
  const double nan = std::nan(""), element = static_cast<double>(element_of(in));
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    const std::int64_t a = run.addresses[lane];
    LaneRow row{static_cast<double>(lane), nan, nan, nan, nan};
    if (a != gpu::inactive_lane)
      row = {static_cast<double>(lane), static_cast<double>(a) / element, static_cast<double>(a),
             static_cast<double>(a / gpu::sector_bytes), static_cast<double>(a / gpu::line_bytes)};
    run.lanes.push_back(row);
  }
}

void add_warps(const std::vector<gpu::LaneAddresses>& warps, const std::vector<std::int64_t>& ids, std::int64_t width,
               Run& run) {
  std::vector<char> fetched(ids.size(), 0);
  for (const gpu::LaneAddresses& w : warps) {
    WarpRow& row = run.warps.emplace_back();
    const auto access = gpu::global_access(w, width);
    if (!access) continue;
    row.sectors = access->sectors;
    for (int i = 0; i < access->sectors; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto rank = std::lower_bound(ids.begin(), ids.end(), access->sector_ids[at]) - ids.begin();
      row.ranks[at] = static_cast<std::int16_t>(rank);
      char& before = fetched[static_cast<std::size_t>(rank)];
      row.again[at] = before != 0;
      row.shared += before;
      before = 1;
    }
  }
}

}  // namespace

Computed compute(const Inputs& in, Progress& progress) {
  Computed out;
  Outputs& facts = out.facts;
  const auto chip = find_chip(in.chip);
  Requests requests = requests_of(in);
  if (!chip || !requests.error.empty()) {
    facts.reason = chip ? requests.error : chip.error;
    return out;
  }
  if (!gpu::capability_in((*chip)->architecture)) {
    facts.reason = "The " + (*chip)->name + " has no warps of 32 lanes with sectors of 32 bytes: choose an NVIDIA GPU.";
    return out;
  }
  Run run;
  run.addresses.fill(gpu::inactive_lane);
  const auto warp = in.access == Access::addresses ? std::size_t{0} : static_cast<std::size_t>(in.warp_index);
  if (warp < requests.warps.size()) run.addresses = requests.warps[warp];
  const std::int64_t width = width_of(in);
  const auto access = gpu::global_access(run.addresses, width);
  if (!access) {
    facts.reason = access.error;
    return out;
  }
  run.access = *access;
  std::vector<std::int64_t> ids;
  facts.block = gpu::block_access(requests.warps, width, &ids);
  facts.block_useful_bytes = static_cast<double>(facts.block.useful_bytes);
  facts.block_ideal_sectors = facts.block.ideal_sectors();
  facts.warps = static_cast<std::int64_t>(requests.warps.size());
  facts.bandwidth_bytes_per_s = (*chip)->memory_bandwidth_bytes_per_s;
  set_warp(run.addresses, run.access, facts);
  set_rates(in, facts);
  if (!progress.facts_alone) {
    run.expression = std::move(requests.expression);
    add_bars(in, run.addresses, run);
    add_others(in, run);
    add_lanes(in, run);
    add_warps(requests.warps, ids, width, run);
  }
  out.run = std::make_shared<const Run>(std::move(run));
  return out;
}

}  // namespace chapters::kernels::coalescing
