#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/platform/json.h"
#include "kernels/kernel.h"

/// Calls over many ladders at once: `kernels check` and `kernels measure`.
namespace app::cli {

int check_kernels(const Arguments& a, const Streams& s);
int measure_kernels(const Arguments& a, const Streams& s);

/// What became of rungs that were checked alone.
struct CheckedRungs {
  int right = 0, wrong = 0, elsewhere = 0;  ///< elsewhere: they could not be run on this machine
};
enum class Verdict : unsigned char { right, wrong, elsewhere };
/// `device`: is there one to run on?
Verdict verdict_of(const kernels::Result& result, bool device);

/// What was measured, as a file of assets/measured: chip, date, how, ceilings, and a row for each rung.
Json survey_document(const std::vector<kernels::Roofs>& roofs, const std::vector<kernels::Result>& results,
                     const std::string& date, const std::string& note);

}  // namespace app::cli
