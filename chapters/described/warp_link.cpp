#include "chapters/described/warp_link.h"

#include "chapters/mechanism/link_writer.h"

namespace chapters {

std::string address_list(std::span<const std::int64_t> addresses) {
  std::string text;
  for (const std::int64_t address : addresses) text += (text.empty() ? "" : ", ") + std::to_string(address);
  return text;
}

models::Result<std::string> link_of_addresses(std::string_view lab, std::span<const std::int64_t> addresses,
                                              std::int64_t width_bytes) {
  LinkWriter w(lab);
  w.choice("access", "addresses");
  w.words("addresses", address_list(addresses));
  w.choice("width_bytes", std::to_string(width_bytes));
  return w.link();
}

}  // namespace chapters
