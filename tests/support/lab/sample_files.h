#pragma once
#include <string>

#include "chapters/mechanism/file_kind.h"

namespace support {

/// A whole small file of this kind, as its program writes it; "" for what no lab reads.
std::string sample_file(chapters::FileKind kind);

/// Every kind that sample_file gives something for.
inline constexpr chapters::FileKind sampled_kinds[] = {
    chapters::FileKind::recording,       chapters::FileKind::memory_recording, chapters::FileKind::memory_snapshot,
    chapters::FileKind::memory_timeline, chapters::FileKind::allocator_events, chapters::FileKind::collective_log,
    chapters::FileKind::topology_table,  chapters::FileKind::arrivals,         chapters::FileKind::kernel_measurements,
    chapters::FileKind::model_config,    chapters::FileKind::safetensors,      chapters::FileKind::kernel_report,
    chapters::FileKind::flight_recorder,
};

}  // namespace support
