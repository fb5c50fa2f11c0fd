#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "chapters/mechanism/field.h"
#include "models/base/linear_algebra.h"
#include "models/base/result.h"
#include "models/compression/safetensors.h"

/// A learner's own weights, from a safetensors file.
namespace chapters {

/// The inputs `file` and `tensor`; `help` says what the lab takes of the file.
void describe_weights_file(Fields& fields, FileInput& file, std::string& tensor, std::string_view help);

/// Part of one tensor of a safetensors file.
struct WeightPart {
  models::Matrix weights;
  std::string what;    ///< "model.layers.0.mlp.up_proj.weight, BF16, rows 0 to 95 of 14,336, columns 0 to 127 of 4,096"
  std::string tensor;  ///< its name
  std::shared_ptr<const models::TensorFile> file;
};

/// Reads up to `rows` rows, evenly spaced, and `cols` columns from the first on. Of the file only its header and these
/// rows are read. `tensor` empty: the largest matrix. Tensors of other than two dimensions are taken as [first, all
/// others]. Fails with one sentence: no file at hand, no such tensor, no numbers, a value that is not finite, what
/// safetensors.h refuses.
models::Status read_weights(const FileInput& file, std::string_view tensor, std::size_t rows, std::size_t cols,
                            WeightPart& out);

}  // namespace chapters
