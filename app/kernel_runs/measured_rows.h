#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.h"

namespace app {

/// Measured rungs as rows beside the models of other labs, in the form of assets/published: what strides left of the
/// memory's bandwidth for kernels/coalescing, and how many times as long conflicts took for kernels/bank-conflicts.
/// Both are ratios of times of one run, so no ceiling is needed. A ladder whose first rung was not timed gives none.
struct MeasuredFile {
  std::string file_name;  ///< name of the file in the folder with the learner's own measurements
  std::string json;
};
std::vector<MeasuredFile> measured_rows(const std::vector<kernels::Result>& results, std::string_view device,
                                        std::string_view date);

}  // namespace app
