#include "models/platform/techniques.h"

#include <algorithm>

namespace models::platform {
namespace {

/// Whether the slot was changed.
template <class T>
bool set_to(T& slot, T value) {
  if (slot == value) return false;
  slot = value;
  return true;
}
bool halve(std::int64_t& slot) { return set_to(slot, std::max<std::int64_t>(1, slot / 2)); }

constexpr double shard = 256;

constexpr Technique all[] = {
    {"shards", "Samples read in shards", Part::data,
     [](ReleaseSetup& s) { return s.samples_per_request < shard && set_to(s.samples_per_request, shard); },
     "training/data-loader"},
    {"workers", "Twice the loader workers", Part::data,
     [](ReleaseSetup& s) { return set_to(s.workers, std::max<std::int64_t>(1, 2 * s.workers)); },
     "training/data-loader"},
    {"storage", "Twice the storage bandwidth", Part::data,
     [](ReleaseSetup& s) { return set_to(s.storage_bytes_per_s, 2 * s.storage_bytes_per_s); }, "training/data-loader"},
    {"half_bytes", "Samples stored in half the bytes", Part::data,
     [](ReleaseSetup& s) { return set_to(s.sample_bytes, s.sample_bytes / 2); }, "training/data-loader"},
    {"fp8", "Matmuls in FP8", Part::training, [](ReleaseSetup& s) { return set_to(s.product, Format::fp8); },
     "precision/mixed"},
    {"no_recompute", "Activations kept, not recomputed", Part::training,
     [](ReleaseSetup& s) { return set_to(s.recompute, false); }, "training/checkpointing"},
    {"overlap", "Gradients exchanged while backward runs", Part::training,
     [](ReleaseSetup& s) { return set_to(s.overlap, true); }, "profiling/step-trace"},
    {"network", "Twice the network", Part::training,
     [](ReleaseSetup& s) { return set_to(s.bus_bytes_per_s, 2 * s.bus_bytes_per_s); }, "profiling/step-trace"},
    {"one_node", "Profile on a single node", Part::profiling,
     [](ReleaseSetup& s) { return s.gpus > 8 && set_to(s.profile_one_node, true); }, "profiling/trace-viewer"},
    {"fewer_runs", "Half the profiled runs", Part::profiling, [](ReleaseSetup& s) { return halve(s.profile_runs); },
     "profiling/step-trace"},
    {"four_bits", "Weights in 4 bits", Part::compression,
     [](ReleaseSetup& s) { return s.recipe->weight_bits > 4.2 && set_to(s.recipe, find_recipe("w4a16")); },
     "compression/deploy"},
    {"one_recipe", "One recipe tried", Part::compression,
     [](ReleaseSetup& s) { return set_to(s.recipes_tried, std::int64_t{1}); }, "compression/deploy"},
    {"kv_fp8", "Cache in FP8", Part::engine,
     [](ReleaseSetup& s) { return s.kv->bits > 8 && set_to(s.kv, find_kv_recipe("fp8")); }, "compression/deploy"},
    {"slots", "Twice the slots", Part::engine, [](ReleaseSetup& s) { return set_to(s.slots, 2 * s.slots); },
     "serving/batching"},
    {"trials", "Half the engine's trials", Part::engine, [](ReleaseSetup& s) { return halve(s.trials); },
     "roofline/transformer-layer"},
    {"autoscale", "Replicas follow the hour", Part::serving, [](ReleaseSetup& s) { return set_to(s.autoscale, true); },
     "serving/batching"},
    {"waves", "Half the waves of a rollout", Part::serving, [](ReleaseSetup& s) { return halve(s.waves); },
     "serving/batching"},
    {"canary", "Twice the canary's share", Part::monitoring,
     [](ReleaseSetup& s) { return set_to(s.canary, std::min(0.5, 2 * s.canary)); }, "serving/batching"},
    {"shadow", "Half the shadow requests", Part::monitoring,
     [](ReleaseSetup& s) { return set_to(s.shadow, s.shadow / 2); }, "serving/batching"},
};

}  // namespace

std::span<const Technique> techniques() { return all; }

}  // namespace models::platform
