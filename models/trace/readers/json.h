#pragma once
#include "models/trace/builder/builder.h"
#include "models/trace/text/source.h"

namespace models::trace {

/// Reads Chrome-trace JSON from `source` into `builder`, and what stands around the events into `trace`.
/// Empty, or one sentence why there are no events.
std::string read_json(Source& source, Trace& trace, Builder& builder);

}  // namespace models::trace
