#pragma once
#include "models/base/result.h"
#include "models/trace/builder/builder.h"
#include "models/trace/text/source.h"

namespace models::trace {

/// Reads an Nsight Systems SQLite export, whole in source.text, into `builder`. Tables are made by the exporter only
/// when they have rows, and columns vary by version, so each is optional. Fails where there is nothing to show.
Status read_sqlite(Source& source, Trace& trace, Builder& builder);

}  // namespace models::trace
