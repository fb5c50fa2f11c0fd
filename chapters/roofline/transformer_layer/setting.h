#pragma once
#include "chapters/roofline/transformer_layer/lab.h"
#include "models/base/result.h"

namespace chapters::roofline::transformer_layer {

/// The things that the Inputs name, as models take them.
struct Setting {
  std::string name;  ///< what the model, or the learner's file, is called
  models::Architecture architecture;
  const models::Chip* chip = nullptr;
  models::Format product_format = models::Format::bf16;
  models::Machine machine;
  models::Workload workload;
};

/// Fails where the file is no configuration, something is not in the catalog, or the chip has no peak for the format.
models::Result<Setting> read_setting(const Inputs& in);

}  // namespace chapters::roofline::transformer_layer
