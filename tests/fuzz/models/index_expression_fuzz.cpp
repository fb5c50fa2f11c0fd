// A typed or pasted index of a kernel's access: what is accepted can be evaluated in every lane of a block, and gives
// addresses that are counted or a sentence.
#include "models/gpu/access/warp_access.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace models::gpu;
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto list = read_addresses(text); fuzz::accepted(list)) {
    const auto shared = shared_access(*list, 1);
    fuzz::require(shared && shared->wavefronts <= 32, "a list that cannot be counted");
  }
  const auto index = read_index(text);
  if (!fuzz::accepted(index)) return 0;
  fuzz::require(index->nodes.size() <= 512 && index->definitions.size() <= 32, "more parts than an index may have");
  for (const BlockShape& shape : {BlockShape{256, 1}, BlockShape{5, 7}}) {
    const auto addresses = lane_addresses(*index, shape, 3, 1, 4);
    if (!fuzz::accepted(addresses)) continue;
    const auto access = global_access(*addresses, 4);
    fuzz::require(access && access->sectors <= access->active && access->lines <= access->sectors &&
                      access->useful_bytes <= access->fetched_bytes,
                  "an access that goes wrong");
  }
  return 0;
}
