#pragma once
#include <cstddef>

namespace models::trace {

/// Asks the system to lay these bytes on large pages where it has some: handing out millions of events page by page
/// takes a fifth of the time of reading them. Changes nothing else; small blocks and other systems are left as they
/// are.
void prefer_large_pages(void* block, std::size_t bytes);

}  // namespace models::trace
