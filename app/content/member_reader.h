#pragma once
#include "app/content/json_reader.h"

namespace app {

/// A Reader that also hands out what stands under a key, for members that are lists or objects.
class MemberReader : public Reader {
 public:
  MemberReader(const Json& object, const std::string& origin) : Reader(object, origin), object_(object) {}
  /// Null where the key is missing.
  const Json* member(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }

 private:
  const Json& object_;
};

}  // namespace app
