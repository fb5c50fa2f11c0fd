#include "chapters/mechanism/registry.h"

#include <algorithm>
#include <array>
#include <mutex>

// The table of contents in teaching order, hidden labs last. A row names the chapter's folder and the lab: the lab lies
// in chapters/<chapter>/<lab>/ or in chapters/<chapter>/<lab>.cpp, its namespace is chapters::<chapter>::<lab>, make()
// there makes it, and its id is "<chapter>/<lab>" with '-' for '_'. Adding a lab is one new file or folder and one row
// here. A new chapter is one more row in `contents`.
// Not aligned, so that a row more does not move the others.
// clang-format off
#define LABS(LAB) \
  LAB(role, compounding) \
  LAB(role, scaling) \
  LAB(role, platform_map) \
  LAB(roofline, hierarchy) \
  LAB(roofline, roofline) \
  LAB(roofline, transformer_layer) \
  LAB(roofline, iron_law) \
  LAB(roofline, tiling_waves) \
  LAB(framework, training_memory) \
  LAB(framework, memory_timeline) \
  LAB(framework, launch) \
  LAB(framework, fusion) \
  LAB(framework, compilers) \
  LAB(framework, allocator) \
  LAB(profiling, step_trace) \
  LAB(profiling, trace_viewer) \
  LAB(profiling, detective) \
  LAB(profiling, utilization) \
  LAB(profiling, counters) \
  LAB(profiling, measure) \
  LAB(precision, number_line) \
  LAB(precision, bits) \
  LAB(precision, loss_scaling) \
  LAB(precision, accumulation) \
  LAB(precision, block_formats) \
  LAB(precision, mixed) \
  LAB(distributed, memory_split) \
  LAB(distributed, collectives) \
  LAB(distributed, pipeline) \
  LAB(distributed, overlap) \
  LAB(distributed, tensor_parallel) \
  LAB(distributed, context) \
  LAB(distributed, moe) \
  LAB(distributed, topology) \
  LAB(distributed, planner) \
  LAB(distributed, rare_gradients) \
  LAB(training, dashboard) \
  LAB(training, checkpointing) \
  LAB(training, data_loader) \
  LAB(training, packing) \
  LAB(training, batch) \
  LAB(training, optimizer) \
  LAB(training, adapters) \
  LAB(compression, playground) \
  LAB(compression, quantizer) \
  LAB(compression, methods) \
  LAB(compression, distillation) \
  LAB(compression, sparsity) \
  LAB(compression, deploy) \
  LAB(inference, phases) \
  LAB(inference, kv_cache) \
  LAB(inference, flash_attention) \
  LAB(inference, speculative) \
  LAB(inference, attention_patterns) \
  LAB(inference, optimize) \
  LAB(inference, tensor_parallel) \
  LAB(inference, state_space) \
  LAB(serving, batching) \
  LAB(serving, paged_kv) \
  LAB(serving, prefix_cache) \
  LAB(serving, chunked_disaggregated) \
  LAB(serving, slo) \
  LAB(serving, capacity) \
  LAB(driving, gantt) \
  LAB(driving, jitter) \
  LAB(driving, budget) \
  LAB(interview, drills) \
  LAB(interview, recall) \
  LAB(interview, scenarios) \
  LAB(interview, cheat_sheet) \
  LAB(interview, readiness) \
  LAB(kernels, lab) \
  LAB(kernels, coalescing) \
  LAB(kernels, bank_conflicts) \
  LAB(kernels, occupancy) \
  LAB(kernels, gemm_tiling) \
  LAB(kernels, async_pipeline) \
  LAB(kernels, layouts) \
  LAB(debugging, pyramid) \
  LAB(debugging, hang) \
  LAB(debugging, stragglers) \
  LAB(debugging, divergence) \
  LAB(fleet, cost) \
  LAB(fleet, train_time) \
  LAB(fleet, frontier) \
  LAB(fleet, scaling_tax) \
  LAB(fleet, sharing) \
  LAB(capstone, serve_70b) \
  LAB(capstone, train) \
  LAB(capstone, perception) \
  LAB(gallery, widgets)
// clang-format on

#define DECLARE(chapter, lab) \
  namespace chapter::lab {    \
  LabPtr make();              \
  }
#define ENTRY(chapter, lab) {id_of<#chapter "/" #lab>, chapter::lab::make},

namespace chapters {

LABS(DECLARE)

namespace {

/// The id of a lab: its path with '-' for '_'.
template <std::size_t n>
struct Id {
  char text[n]{};
  consteval Id(const char (&path)[n]) {
    for (std::size_t i = 0; i < n; ++i) text[i] = path[i] == '_' ? '-' : path[i];
  }
};
template <Id id>
constexpr std::string_view id_of{id.text, sizeof(id.text) - 1};

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
    {"role", "00", "The role", of("role")},
    {"roofline", "01", "The roofline", of("roofline")},
    {"framework", "02", "Frameworks", of("framework")},
    {"profiling", "03", "Profiling", of("profiling")},
    {"precision", "04", "Precision", of("precision")},
    {"distributed", "05", "Distributed", of("distributed")},
    {"training", "06", "Training", of("training")},
    {"compression", "07", "Compression", of("compression")},
    {"inference", "08", "Inference", of("inference")},
    {"serving", "09", "Serving", of("serving")},
    {"driving", "10", "Driving", of("driving")},
    {"interview", "11", "Interview", of("interview")},
    {"kernels", "12", "Kernels", of("kernels")},
    {"debugging", "13", "Debugging", of("debugging")},
    {"fleet", "14", "Fleet", of("fleet")},
    {"capstone", "15", "Capstone", of("capstone")},
};

}  // namespace

std::span<const Chapter> all_chapters() { return contents; }
std::span<const LabEntry> all_labs() { return labs; }

bool has_lab(std::string_view id) {
  return std::any_of(labs.begin(), labs.end(), [&](const LabEntry& e) { return e.id == id; });
}

LabPtr make_lab_by_id(std::string_view id) {
  const auto at = std::find_if(labs.begin(), labs.end(), [&](const LabEntry& e) { return e.id == id; });
  if (at == labs.end()) return nullptr;
  static std::mutex one_at_a_time;
  static std::array<LabPtr, std::size(entries)> first;
  const std::lock_guard lock(one_at_a_time);
  LabPtr& mine = first[static_cast<std::size_t>(at - labs.begin())];
  if (!mine) mine = at->make();
  return mine->clone();
}

}  // namespace chapters
