// A safetensors file: what is accepted covers the file from the header to its end without a gap, and every tensor
// decodes to as many numbers as its shape says.
#include <vector>

#include "models/compression/safetensors.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file = fuzz::text_of(data, size);
  const auto read = models::parse_safetensors(file, size, "model.safetensors");
  if (!fuzz::accepted(read)) return 0;
  std::uint64_t at = read->header_bytes;
  for (const auto& t : read->tensors) {
    fuzz::require(t.begin_bytes == at && t.end_bytes >= at && t.end_bytes <= size, "a tensor out of place", t.name);
    at = t.end_bytes;
    fuzz::require(read->find(t.name) == &t, "a tensor that is not found by its name", t.name);
    const auto bytes =
        file.substr(static_cast<std::size_t>(t.begin_bytes), static_cast<std::size_t>(t.end_bytes - t.begin_bytes));
    std::vector<double> values(static_cast<std::size_t>(t.elements) + 1);
    fuzz::require(t.elements == 0 || bytes.size() > 0, "numbers without bytes", t.name);
    fuzz::require(models::decode_tensor(t.type, bytes, values) == static_cast<std::size_t>(t.elements),
                  "another count than the shape's", t.name);
  }
  fuzz::require(at == size, "bytes that belong to nothing");
  return 0;
}
