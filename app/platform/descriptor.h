#pragma once
#include <unistd.h>

#include <utility>

namespace app {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& from) noexcept : number_(std::exchange(from.number_, -1)) {}
  Descriptor& operator=(Descriptor&& from) noexcept {
    close();
    number_ = std::exchange(from.number_, -1);
    return *this;
  }
  bool good() const { return number_ >= 0; }
  int get() const { return number_; }
  /// False, with errno, when what was written could not be kept.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_ = -1;
};

}  // namespace app
