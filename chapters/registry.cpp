#include "chapters/registry.h"

#include <algorithm>

// The table of contents in teaching order, hidden labs last. A row names a lab's folder, its slug, and the function in
// chapters/<folder>/ that makes it: adding a lab is one new file and one row here. A new chapter is one more row in
// `contents`.
#define LABS(LAB)                                          \
  LAB(roofline, "hierarchy", hierarchy)                    \
  LAB(roofline, "roofline", roofline)                      \
  LAB(roofline, "transformer-layer", transformer_layer)    \
  LAB(roofline, "iron-law", iron_law)                      \
  LAB(roofline, "tiling-waves", tiling_waves)              \
  LAB(profiling, "trace-viewer", trace_viewer)             \
  LAB(precision, "number-line", value_line)                \
  LAB(precision, "bits", bit_editor)                       \
  LAB(precision, "loss-scaling", loss_scaling)             \
  LAB(precision, "accumulation", accumulate)               \
  LAB(precision, "block-formats", block_scales)            \
  LAB(precision, "mixed", mixed_recipes)                   \
  LAB(compression, "playground", compression_playground)   \
  LAB(compression, "quantizer", weight_quantizer)          \
  LAB(compression, "methods", quantization_methods)        \
  LAB(compression, "distillation", knowledge_distillation) \
  LAB(compression, "sparsity", weight_sparsity)            \
  LAB(compression, "deploy", deployment)                   \
  LAB(serving, "batching", batching_race)                  \
  LAB(driving, "gantt", perception_gantt)                  \
  LAB(driving, "jitter", frame_jitter)                     \
  LAB(interview, "drills", drills)                         \
  LAB(interview, "readiness", readiness)                   \
  LAB(kernels, "lab", kernel_lab)                          \
  LAB(gallery, "widgets", widget_gallery)

#define DECLARE(folder, slug, make) \
  namespace folder {                \
  LabPtr make();                    \
  }
#define ENTRY(folder, slug, make) {#folder "/" slug, folder::make},

namespace chapters {

LABS(DECLARE)

namespace {

constexpr LabEntry entries[] = {LABS(ENTRY)};
constexpr std::span<const LabEntry> labs{entries};

/// The run of entries whose id starts with "<slug>/".
constexpr std::span<const LabEntry> of(std::string_view slug) {
  std::size_t first = 0, last = 0;
  for (std::size_t i = 0; i < labs.size(); ++i)
    if (labs[i].id.size() > slug.size() && labs[i].id.substr(0, slug.size()) == slug &&
        labs[i].id[slug.size()] == '/') {
      if (last == 0) first = i;
      last = i + 1;
    }
  return labs.subspan(first, last - first);
}

constexpr Chapter contents[] = {
    {"roofline", "01", "The roofline", of("roofline")}, {"profiling", "03", "Profiling", of("profiling")},
    {"precision", "04", "Precision", of("precision")},  {"compression", "07", "Compression", of("compression")},
    {"serving", "09", "Serving", of("serving")},        {"driving", "10", "Driving", of("driving")},
    {"interview", "11", "Interview", of("interview")},  {"kernels", "12", "Kernels", of("kernels")},
};

}  // namespace

std::span<const Chapter> all_chapters() { return contents; }
std::span<const LabEntry> all_labs() { return labs; }

LabPtr make_lab_by_id(std::string_view id) {
  const auto at = std::find_if(labs.begin(), labs.end(), [&](const LabEntry& e) { return e.id == id; });
  return at == labs.end() ? nullptr : at->make();
}

}  // namespace chapters
