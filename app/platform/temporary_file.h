#pragma once
#include <string>
#include <string_view>

namespace app {

/// A file with a text in the system's folder for temporary files, of a name that nobody else has; gone with this
/// object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view text);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  /// Empty where it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace app
