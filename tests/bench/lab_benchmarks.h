#pragma once

namespace bench {

/// One benchmark of each kind for every lab there is: frame/CHAPTER/LAB, compute/CHAPTER/LAB; and drawer/TAB on one of
/// them.
void register_labs();

}  // namespace bench
