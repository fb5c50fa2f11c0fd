#pragma once
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chapters/mechanism/lab.h"
#include "chapters/mechanism/published_tables.h"
#include "models/base/result.h"

/// Published measurements: read from assets/published, and set beside what the labs compute.
namespace app {

/// Reads {"lab": ID, "sources": {ID: {"name", "date", "url"}}, "published": [{"id", "name", "label", "inputs",
/// "output", "measured", "unit", "model": "ceiling", "floor", "estimate" or "beside", "tolerance", "beats", "source",
/// "note"}]}.
/// A row with a fault is left out, and a sentence in `errors` says which, where and why; `origin` is the file's name.
std::vector<chapters::Published> parse_published(std::string_view text, std::string_view origin,
                                                 std::vector<std::string>& errors);

using chapters::CheckedPublished;

/// Computes the row's lab on the row's inputs. Fails when the row itself is broken: an unknown lab, input or output, a
/// value out of range, another unit than the output's, or inputs that the lab refuses.
models::Result<CheckedPublished> check_published(const chapters::Published& row);
/// The table of a lab under the catalog in force: the one that is kept there, or a new one, which is then kept. Null
/// when `progress` was cancelled meanwhile. May take seconds: not for the window's thread.
std::shared_ptr<const chapters::PublishedTable> published_table(std::string_view lab, chapters::Progress& progress);

/// Residuals of one quantity, relative. All rows have one output and one role, so that a mean of them says something.
struct ResidualSummary {
  std::string output;
  chapters::ModelRole role = chapters::ModelRole::estimate;
  std::size_t rows = 0;
  double mean = 0, mean_absolute = 0;  ///< NaN where the rows stand beside the model, without a residual
  double worst = 0;                    ///< the residual farthest from 0
  std::string worst_id;                ///< its row
  /// Shares of a bound that were reached; NaN where the model is no bound.
  double least_share = std::numeric_limits<double>::quiet_NaN(), mean_share = least_share, most_share = least_share;
};
/// One summary for each output and role among `rows`, in the order of their first rows; `checked` is parallel.
std::vector<ResidualSummary> summarize_residuals(const std::vector<const chapters::Published*>& rows,
                                                 const std::vector<CheckedPublished>& checked);

}  // namespace app
