#pragma once
#include "models/base/result.h"
#include "models/trace/builder/builder.h"
#include "models/trace/text/source.h"

namespace models::trace {

/// Reads Chrome-trace JSON from `source` into `builder`, and what stands around the events into `trace`.
/// Fails where there are no events.
Status read_json(Source& source, Trace& trace, Builder& builder);

}  // namespace models::trace
