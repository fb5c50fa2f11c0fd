#pragma once
#include "app/cli/cli.h"
#include "models/trace/writers/extract.h"

/// What `ridgeline trace -o` writes.
namespace app::cli {

/// --window "0.5:2", seconds since the recording's first span; either may be left out.
models::Result<models::trace::ExtractWindow> extract_window(const Arguments& a);

/// The recording as Chrome JSON, or with --extract what its diagnosis reads.
models::Status write_trace(const Arguments& a, const models::trace::Trace& whole,
                           const models::trace::ExtractWindow& window);

}  // namespace app::cli
