#pragma once
#include <ostream>
#include <streambuf>

namespace app {

/// Writes to another stream what a terminal may show: a control character but tab and line feed becomes "?", so that no
/// name of somebody's kernel or file moves the cursor, recolours or retitles the terminal. Once for all that is
/// printed.
class PrintableStream : private std::streambuf, public std::ostream {
 public:
  explicit PrintableStream(std::ostream& to) : std::ostream(static_cast<std::streambuf*>(this)), to_(to) {
    exceptions(to.exceptions());
  }

 private:
  int overflow(int c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  bool put(char c);

  std::ostream& to_;
  bool after_c2_ = false;  ///< the byte before begins a character of two bytes that may be a control character
};

}  // namespace app
