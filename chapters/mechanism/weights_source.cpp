#include "chapters/mechanism/weights_source.h"

#include <algorithm>
#include <cmath>

#include "chapters/mechanism/file_name.h"
#include "widgets/number/number.h"

namespace chapters {
namespace {

using models::TensorEntry;
using models::TensorFile;

std::string grouped(std::size_t n) { return widgets::format_text(static_cast<double>(n), "", 12); }

models::Result<TensorFile> list_tensors(const FileInput& file) {
  using Listed = models::Result<TensorFile>;
  const std::string name(file_name(file.path));
  const FileBytes& bytes = *file.bytes;
  std::string head;
  if (const auto read = bytes.read_part(0, std::min<std::uint64_t>(8, bytes.size_bytes), head); !read)
    return Listed::fail(read.error);
  const auto length = models::safetensors_head_bytes(head, bytes.size_bytes, name);
  if (!length) return Listed::fail(length.error);
  if (const auto read = bytes.read_part(0, *length, head); !read) return Listed::fail(read.error);
  return models::parse_safetensors(head, bytes.size_bytes, name);
}

/// The same, kept with the file.
std::shared_ptr<const TensorFile> listed(const FileInput& file, std::string& error) {
  return file.bytes->made<TensorFile>([&]() -> std::shared_ptr<const TensorFile> {
    auto read = list_tensors(file);
    if (!read) {
      error = read.error;
      return nullptr;
    }
    return std::make_shared<const TensorFile>(std::move(*read));
  });
}

struct Shape {
  std::size_t rows = 1, cols = 1;
};
Shape shape_of(const TensorEntry& t) {
  if (t.shape.empty() || t.elements == 0) return {1, static_cast<std::size_t>(t.elements)};
  if (t.shape.size() == 1) return {1, static_cast<std::size_t>(t.shape[0])};
  return {static_cast<std::size_t>(t.shape[0]), static_cast<std::size_t>(t.elements / t.shape[0])};
}

const TensorEntry* chosen(const TensorFile& file, std::string_view name) {
  if (!name.empty()) return file.find(name);
  const TensorEntry* best = nullptr;
  for (const TensorEntry& t : file.tensors)
    if (t.elements > 0 &&
        (!best || std::pair(t.shape.size() == 2, t.elements) > std::pair(best->shape.size() == 2, best->elements)))
      best = &t;
  return best;
}

}  // namespace

void describe_weights_file(Fields& f, FileInput& file, std::string& tensor, std::string_view help) {
  f.file("file", file, "Your weights", help,
         {.reads = {FileKind::safetensors}, .accepts = "safetensors", .by_bytes = true});
  f.text("tensor", tensor, "Tensor", "Name of a tensor of that file; empty takes its largest matrix.");
}

models::Status read_weights(const FileInput& file, std::string_view tensor, std::size_t rows, std::size_t cols,
                            WeightPart& out) {
  if (!file.bytes || !file.bytes->read_part)
    return models::Status::fail("The file " + file.path + " is not at hand: choose it again.");
  std::string error;
  out.file = listed(file, error);
  if (!out.file)
    return models::Status::fail(error.empty() ? "The file " + file.path + " cannot be listed: choose it again."
                                              : error);
  const TensorEntry* t = chosen(*out.file, tensor);
  if (!t) {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, out.file->tensors.size()); ++i)
      names += (i ? ", " : "") + out.file->tensors[i].name.substr(0, 80);
    return models::Status::fail(
        "The file holds no tensor '" + std::string(tensor.substr(0, 80)) + "'" +
        (names.empty() ? "" : "; among its " + grouped(out.file->tensors.size()) + " are " + names) + ".");
  }
  const std::string subject = "The tensor '" + t->name.substr(0, 80) + "'";
  if (t->elements == 0) return models::Status::fail(subject + " holds no numbers: choose another.");
  if (t->type == models::TensorType::c64)
    return models::Status::fail(subject + " holds complex numbers: choose a real one.");
  const Shape shape = shape_of(*t);
  const std::size_t n_rows = std::min(rows, shape.rows), n_cols = std::min(cols, shape.cols);
  const auto bits = static_cast<std::size_t>(models::tensor_type_bits(t->type));
  out.weights = models::Matrix(n_rows, n_cols);
  std::string bytes;
  for (std::size_t r = 0; r < n_rows; ++r) {
    const std::size_t row = r * shape.rows / n_rows, first = row * shape.cols * bits / 8,
                      last = (row * shape.cols + n_cols) * bits;
    // A row of elements under a byte may begin inside one: rounded down, which moves it by one element at most.
    if (auto read = file.bytes->read_part(t->begin_bytes + first, (last + 7) / 8 - first, bytes); !read) return read;
    models::decode_tensor(t->type, bytes, out.weights.row(r));
  }
  for (const double v : out.weights.values)
    if (!std::isfinite(v))
      return models::Status::fail(subject + " holds a value that is not finite: it cannot be quantized.");
  out.tensor = t->name;
  const std::string taken = n_rows == 1 && shape.rows > 1 ? "the first of " + grouped(shape.rows) + " rows"
                            : n_rows < shape.rows ? grouped(n_rows) + " rows evenly out of " + grouped(shape.rows)
                                                  : grouped(n_rows) + (n_rows == 1 ? " row" : " rows");
  out.what = t->name + ", " + std::string(models::tensor_type_name(t->type)) + ": " + taken + ", the first " +
             grouped(n_cols) + " of " + grouped(shape.cols) + " columns";
  return models::Status::ok();
}

}  // namespace chapters
