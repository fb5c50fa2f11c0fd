#include "models/machine/kernel_rules_gpu.h"

// What a rung of the OpenGL ladders asks for is counted in its source, for groups that run as warps of 32. Nobody has
// published them.
namespace models {
namespace {

struct GroupStreamRule {
  std::string_view ladder, rung;
  WarpStream loop;
  std::string_view why;
};
constexpr GroupStreamRule group_stream_rules[] = {
    {"gl-copy",
     "scalar",
     {.useful_bytes = 256, .sectors = 8, .bytes_per_thread = 8},
     "2,048 invocations with one load of four bytes each in flight, stored once it is there."},
    {"gl-copy",
     "vec4",
     {.useful_bytes = 1024, .sectors = 32, .bytes_per_thread = 32},
     "Four times the bytes in flight with the same invocations."},
    {"gl-copy",
     "grid_stride",
     {.useful_bytes = 1024, .sectors = 32, .bytes_per_thread = 32},
     "As before, and no groups to start while it runs."},
    {"gl-gather",
     "apart_32",
     {.useful_bytes = 256, .sectors = 36, .bytes_per_thread = 8},
     "32 neighbours read 32 sectors and write 4: 1,152 bytes at the L2 for 256 useful ones."},
    {"gl-gather",
     "apart_8",
     {.useful_bytes = 256, .sectors = 36, .bytes_per_thread = 8},
     "32 bytes apart is still a sector each: 32 to read and 4 to write."},
    {"gl-gather",
     "apart_2",
     {.useful_bytes = 256, .sectors = 12, .bytes_per_thread = 8},
     "32 neighbours read 8 sectors and write 4."},
    {"gl-gather",
     "apart_1",
     {.useful_bytes = 256, .sectors = 8, .bytes_per_thread = 8},
     "32 neighbours read 4 sectors and write 4: a copy."},
    {"gl-reduction",
     "tree",
     {.useful_bytes = 128, .sectors = 4, .bytes_per_thread = 4, .tree_cycles = 8 * 55},
     "Four bytes an invocation in flight, and eight steps of about 55 cycles before the group makes room."},
    {"gl-reduction",
     "first_add",
     {.useful_bytes = 128, .sectors = 4, .bytes_per_thread = 8, .tree_cycles = 8 * 55},
     "Two loads in flight an invocation for the same tree."},
    {"gl-reduction",
     "grid_stride",
     {.useful_bytes = 512, .sectors = 16, .bytes_per_thread = 16, .tree_cycles = 0},
     "16 bytes an invocation in flight; the tree runs once a group."},
    {"gl-transpose",
     "naive",
     {.useful_bytes = 256, .sectors = 36, .bytes_per_thread = 8},
     "32 neighbours read 4 sectors and write 32: 1,152 bytes at the L2 for 256 useful ones."},
    {"gl-transpose",
     "tile",
     {.useful_bytes = 256, .sectors = 8, .wavefronts = 33, .bytes_per_thread = 32},
     "Sectors are full; a column of the tile is one bank, 32 wavefronts for 128 bytes."},
    {"gl-transpose",
     "padded",
     {.useful_bytes = 256, .sectors = 8, .wavefronts = 2, .bytes_per_thread = 32},
     "Rows of 33 words spread a column over all banks: two wavefronts."},
};

struct GroupFmaRule {
  std::string_view ladder, rung;
  double wavefronts;
  std::string_view why;
  bool separate = false;  ///< the multiply and the add are two instructions
};
constexpr GroupFmaRule group_fma_rules[] = {
    {"gl-sgemm", "naive", 2, "One wavefront for a row of B, one for the word of A."},
    {"gl-sgemm", "shared", 2,
     "Half a row of B and a word of A, a wavefront each, now from shared memory: what falls is the traffic behind it."},
    {"gl-sgemm", "register", 8.0 / 16, "Four words of A and four of B, a wavefront each, for 16 multiply-adds."},
    {"gl-fma", "separate", 0, "A multiply and an add: two instructions for two operations, where one would do.", true},
    {"gl-fma", "fused", 0, "Each step waits four cycles, and 16 warps for each scheduler fill them."},
    {"gl-fma", "four", 0, "Four steps that do not wait for each other: a quarter of the warps would do."},
    {"gl-fma", "vectors", 0, "Sixteen steps that do not wait for each other: one warp for each scheduler would do."},
};

}  // namespace

std::optional<KernelPrediction> predict_opengl_kernel(std::string_view ladder, std::string_view rung,
                                                      const GpuPorts& gpu) {
  for (const auto& r : group_stream_rules)
    if (r.ladder == ladder && r.rung == rung)
      return KernelPrediction{
          .bound = warp_stream_bound(gpu, r.loop), .why = r.why, .ports = warp_stream_ports(gpu, r.loop)};
  for (const auto& r : group_fma_rules) {
    if (r.ladder != ladder || r.rung != rung) continue;
    KernelPrediction out{.bound = warp_fma_bound(gpu, r.wavefronts),
                         .why = r.why,
                         .ports = warp_fma_ports(gpu, r.wavefronts),
                         .first_level_bytes_per_flop = r.wavefronts * 128 / 64};
    if (r.separate) {
      out.bound = {0.5, KernelLimit::issue};
      out.ports.room[0].port = "instructions";
      out.ports.room[0].demand *= 2;
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace models
