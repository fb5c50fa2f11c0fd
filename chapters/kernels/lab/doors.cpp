#include <algorithm>
#include <array>

#include "chapters/kernels/lab/lab.h"
#include "chapters/mechanism/link_writer.h"
#include "models/gpu/occupancy.h"

/// Where rungs lead: of the CUDA ladders to what one of their warps asks of memory, and the tile of a block; of a CPU's
/// to the lab where two of them are timed run by run.
namespace chapters::kernels::lab {
namespace {

using Link = models::Result<std::string>;

/// An access of a warp, as the labs of warps read it. Empty: the rung makes none of that kind worth a look.
struct WarpIndex {
  std::string_view index{};
  std::string_view width = "4", element = "load";
  double block_width = 32;
};
/// A block's tile of C and the step in K; 0 rows: the rung has none.
struct BlockTile {
  double rows = 0, columns = 0, depth = 0, warp_rows = 0, warp_columns = 0, thread_rows = 0, thread_columns = 0,
         stages = 1, element_bytes = 4;
  std::string_view unit = "fma";
};
/// Each follows the source of the rung in kernels/cuda/rungs: the access that its ladder is about.
struct RungPlace {
  std::string_view ladder, rung;
  WarpIndex global{}, shared{};
  std::string_view layout{};
  BlockTile tile{};
  std::string_view cell_bytes = "4";
  double swizzle_bits = 5, swizzle_shift = 5;  ///< where the rung swizzles
};

// n is the side of the matrix that is run.
constexpr std::string_view down = "threadIdx.x * n + threadIdx.y", along = "threadIdx.y * n + threadIdx.x";
constexpr WarpIndex float4s{"4 * threadIdx.y * n + 4 * threadIdx.x", "16", "4", 16};
/// A row of 64 bf16 is eight chunks of 16 bytes, and a row of 128 sixteen.
constexpr WarpIndex chunks_of_rows{"threadIdx.x / 8 * n / 8 + threadIdx.x % 8", "16", "load", 256},
    fragment_words{"lane / 4 * 32 + lane % 4", "4", "load", 256},
    matrix_rows{"lane % 16 * 8 + lane / 16", "16", "load", 256},
    matrix_rows_swizzled{"lane % 16 * 8 + (lane / 16 ^ lane % 8)", "16", "load", 256},
    key_rows{"(lane / 16 * 8 + lane % 8) * 16 + lane / 8 % 2", "16", "load", 128},
    key_rows_swizzled{"(lane / 16 * 8 + lane % 8) * 16 + (lane / 8 % 2 ^ lane % 8)", "16", "load", 128};
constexpr std::string_view chunks_of_64 = "(128,8):(8,1)", chunks_of_128 = "(64,16):(16,1)";
constexpr BlockTile halves{128, 128, 64, 64, 32, 0, 0, 1, 2, "mma"},
    halves_in_a_ring{128, 128, 64, 64, 32, 0, 0, 3, 2, "mma"}, group_tile{256, 128, 64, 128, 128, 0, 0, 4, 2, "wgmma"};
constexpr WarpIndex float_row{"threadIdx.x", "4", "load", 256}, float4_row{"threadIdx.x", "16", "load", 256},
    cache_rows{"lane / 16 * 64 + lane % 16", "16", "load", 128},
    head_sums{"lane / 16 * 128 + lane % 16 * 8", "4", "load", 128};
constexpr BlockTile thread_tile{128, 128, 8, 16, 128, 8, 8, 1}, warp_tile{128, 128, 8, 64, 32, 8, 8, 2};

constexpr auto places = std::to_array<RungPlace>({
    {"cuda-copy", "scalar", {"blockIdx.x * blockDim.x + threadIdx.x", "4", "load", 256}},
    {"cuda-copy", "float4", {"blockIdx.x * blockDim.x + threadIdx.x", "16", "load", 256}},
    {"cuda-transpose", "naive", {down}},
    {"cuda-transpose", "tile", {along}, {"32 * threadIdx.x + threadIdx.y"}, "(32,32):(32,1)"},
    {"cuda-transpose", "padded", {along}, {"33 * threadIdx.x + threadIdx.y"}, "(32,32):(33,1)"},
    {"cuda-transpose", "swizzled", {along}, {"32 * threadIdx.x + (threadIdx.y ^ threadIdx.x)"}, "(32,32):(32,1)"},
    {"cuda-transpose",
     "vector",
     float4s,
     {"16 * threadIdx.y + (threadIdx.x ^ (threadIdx.y >> 2 & 7))", "16", "load", 16}},
    {"cuda-stride", "every_1", {"threadIdx.x", "4", "load", 256}},
    {"cuda-stride", "every_2", {"2 * threadIdx.x", "4", "load", 256}},
    {"cuda-stride", "every_4", {"4 * threadIdx.x", "4", "load", 256}},
    {"cuda-stride", "every_8", {"8 * threadIdx.x", "4", "load", 256}},
    {"cuda-stride", "every_32", {"32 * threadIdx.x", "4", "load", 256}},
    {"cuda-banks", "stride_1", {}, {"threadIdx.x % 32", "4", "load", 256}},
    {"cuda-banks", "stride_2", {}, {"threadIdx.x % 32 * 2", "4", "load", 256}},
    {"cuda-banks", "stride_4", {}, {"threadIdx.x % 32 * 4", "4", "load", 256}},
    {"cuda-banks", "stride_8", {}, {"threadIdx.x % 32 * 8", "4", "load", 256}},
    {"cuda-banks", "stride_16", {}, {"threadIdx.x % 32 * 16", "4", "load", 256}},
    {"cuda-banks", "stride_32", {}, {"threadIdx.x % 32 * 32", "4", "load", 256}, "(32,32):(32,1)"},
    {"cuda-banks", "stride_33", {}, {"threadIdx.x % 32 * 33", "4", "load", 256}, "(32,32):(33,1)"},
    {"cuda-ilp", "full_1"},
    {"cuda-ilp", "full_2"},
    {"cuda-ilp", "full_4"},
    {"cuda-sgemm", "uncoalesced", {down}},
    {"cuda-sgemm", "coalesced", {along}},
    {"cuda-sgemm", "shared", {along}, {"threadIdx.x"}, "(32,32):(32,1)"},
    {"cuda-sgemm", "register", {}, {"threadIdx.x % 16 * 8", "4", "load", 256}, "(8,128):(128,1)", thread_tile},
    {"cuda-sgemm", "vector", {}, {"threadIdx.x % 16 * 2", "16", "load", 256}, "(8,128):(128,1)", thread_tile},
    {"cuda-sgemm", "warp", {}, {"lane / 4", "16", "load", 256}, "(8,128):(128,1)", warp_tile},
    {"cuda-bf16-gemm", "wmma"},
    {"cuda-bf16-gemm", "mma", chunks_of_rows, fragment_words, chunks_of_64, halves, "16"},
    {"cuda-bf16-gemm", "async", chunks_of_rows, fragment_words, chunks_of_64, halves, "16"},
    {"cuda-bf16-gemm", "ldmatrix", chunks_of_rows, matrix_rows, chunks_of_64, halves, "16"},
    {"cuda-bf16-gemm", "swizzle", chunks_of_rows, matrix_rows_swizzled, chunks_of_64, halves, "16", 3, 3},
    {"cuda-bf16-gemm", "pipeline", chunks_of_rows, matrix_rows_swizzled, chunks_of_64, halves_in_a_ring, "16", 3, 3},
    {"cuda-bf16-gemm", "wgmma", chunks_of_rows, {}, chunks_of_64, group_tile, "16", 3, 3},
    {"cuda-attention", "naive", {"64 * threadIdx.x"}},
    {"cuda-attention", "online", {}, {"lane % 8 * 65", "4", "load", 256}},
    {"cuda-attention", "mma", {}, key_rows, chunks_of_128, {}, "16"},
    {"cuda-attention", "swizzle", {}, key_rows_swizzled, chunks_of_128, {}, "16", 3, 4},
    {"cuda-attention", "pipeline", {}, key_rows_swizzled, chunks_of_128, {}, "16", 3, 4},
    {"cuda-histogram", "global", {"blockIdx.x * blockDim.x + threadIdx.x", "4", "load", 256}},
    // The lanes meet different counters, each in the column of its lane.
    {"cuda-histogram", "private", float4_row, {"lane * 37 % 256 * 32 + lane", "4", "load", 256}},
    {"cuda-softmax", "fused", float_row},
    {"cuda-softmax", "vector", float4_row},
    {"cuda-layernorm-gelu", "fused", float_row},
    {"cuda-layernorm-gelu", "vector", float4_row},
    {"cuda-gemv", "fp16", float_row},
    {"cuda-gemv", "wide", float4_row},
    // The vector x: 32 and 64 bytes a lane, 16 of them a load.
    {"cuda-gemv", "int8", {"2 * lane", "16", "load", 256}},
    {"cuda-gemv", "int4", {"4 * lane", "16", "load", 256}},
    // K: half a warp reads a head of a token, and the next token is four heads on.
    {"cuda-paged-decode", "split", cache_rows, head_sums},
    {"cuda-paged-decode", "gqa", cache_rows, head_sums},
    {"cuda-fp8-quantize", "fused", {"threadIdx.x", "2", "load", 256}},
    {"cuda-fp8-quantize", "vector", float4_row},
});

Link to_warp(std::string_view lab, const WarpIndex& access, std::int64_t size) {
  LinkWriter w(lab);
  w.choice("access", "expression");
  const bool of_size = access.index.find("* n ") != std::string_view::npos;
  w.words("expression", (of_size ? "n = " + std::to_string(size) + "; " : "") + std::string(access.index));
  w.choice("width_bytes", access.width);
  w.choice("element_bytes", access.element);
  w.exactly("block_width", access.block_width);
  if (lab == "kernels/coalescing") w.exactly("block_height", std::min(32.0, 1024 / access.block_width));
  return w.link();
}

Link to_layout(const RungPlace& place) {
  LinkWriter w("kernels/layouts");
  const bool flips = place.rung == "swizzled" || place.swizzle_bits < 5;
  w.choice("operation", flips ? "swizzled_layout" : "eval");
  w.words("a", place.layout);
  if (flips) {
    w.exactly("swizzle_bits", place.swizzle_bits);
    w.exactly("swizzle_base", 0);
    w.exactly("swizzle_shift", place.swizzle_shift);
  }
  w.choice("cell_bytes", place.cell_bytes);
  return w.link();
}

void write_block(LinkWriter& w, const BlockTile& tile) {
  w.exactly("block_m", tile.rows);
  w.exactly("block_n", tile.columns);
  w.exactly("block_k", tile.depth);
  w.exactly("stages", tile.stages);
  w.exactly("element_bytes", tile.element_bytes);
}

Link to_tile(const Inputs& in, const BlockTile& tile) {
  LinkWriter w("kernels/gemm-tiling");
  write_block(w, tile);
  w.choice("unit", tile.unit);
  w.choice("chip", in.chip);
  w.exactly("warp_m", tile.warp_rows);
  w.exactly("warp_n", tile.warp_columns);
  if (tile.unit == "fma") {
    w.exactly("thread_m", tile.thread_rows);
    w.exactly("thread_n", tile.thread_columns);
  }
  return w.link();
}

/// Registers and shared memory as the compiler reported them.
Link to_sm(const RunRow* run) {
  if (!run || run->registers <= 0)
    return Link::fail("The compiler has not said yet how many registers this rung takes: run it.");
  LinkWriter w("kernels/occupancy");
  const auto capability = models::gpu::capability_in(run->arch);
  if (capability) w.choice("compute_capability", models::gpu::capability_text(*capability));
  w.exactly("block_threads", static_cast<double>(run->block_threads));
  w.exactly("registers_per_thread", static_cast<double>(run->registers));
  w.exactly("static_shared_bytes", static_cast<double>(run->shared_bytes));
  return w.link();
}

/// A CPU's rung and the one before it (the first one: itself), as what is timed there run by run.
Link to_turns(const Inputs& in, const Run& run) {
  if (in.size > LabSize::usual)
    return Link::fail("Runs are timed one by one up to the usual size: choose that, or a smaller one.");
  LinkWriter w("profiling/measure");
  const auto rung = static_cast<double>(run.selected + 1);
  w.choice("source", "machine");
  w.choice("ladder", run.ladder->id);
  w.exactly("rung_a", std::max(1.0, rung - 1));
  w.exactly("rung_b", rung);
  w.choice("size", in.size == LabSize::smallest ? "smallest" : in.size == LabSize::small ? "small" : "usual");
  w.toggle("cold_caches", in.cold);
  w.choice("order", "mirrored");
  w.toggle("paired", true);
  return w.link();
}

Link to_ring(const BlockTile& tile) {
  LinkWriter w("kernels/async-pipeline");
  write_block(w, tile);
  w.choice("kind", tile.stages > 1 ? "multistage" : "sync");
  return w.link();
}

}  // namespace

LabDoors doors_of(const Inputs& in, const Run& run) {
  LabDoors doors;
  if (run.ladder->device == ::kernels::Device::cpu) {
    doors.push_back({"open the turns", run.selected == 0 ? "In turns with itself" : "In turns with the rung before",
                     to_turns(in, run)});
    return doors;
  }
  const auto* place = std::find_if(places.begin(), places.end(), [&](const RungPlace& p) {
    return p.ladder == run.ladder->id && p.rung == run.rung().id;
  });
  if (place == places.end()) return doors;
  const std::int64_t size = size_of(*run.ladder, in.size);
  if (!place->global.index.empty())
    doors.push_back({"open the sectors", "A warp's sectors", to_warp("kernels/coalescing", place->global, size)});
  if (!place->shared.index.empty())
    doors.push_back({"open the banks", "A warp's banks", to_warp("kernels/bank-conflicts", place->shared, size)});
  if (!place->layout.empty()) doors.push_back({"open the layout", "Its tile as a layout", to_layout(*place)});
  if (place->tile.rows > 0) {
    doors.push_back({"open the tile", "Its tile at every gate", to_tile(in, place->tile)});
    doors.push_back({"open the ring", "Its steps on a clock", to_ring(place->tile)});
  }
  doors.push_back({"open the SM", "Its blocks on an SM", to_sm(run.rungs[run.selected].run.get())});
  return doors;
}

}  // namespace chapters::kernels::lab
