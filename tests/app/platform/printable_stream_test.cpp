#include "app/platform/printable_stream.h"

#include <catch2/catch_test_macros.hpp>
#include <sstream>

#include "app/cli/cli.h"

using std::string_literals::operator""s;

namespace {

std::string shown(const std::string& text) {
  std::ostringstream to;
  app::PrintableStream out(to);
  out << text;
  out.flush();
  return to.str();
}

}  // namespace

TEST_CASE("what is printed has no control characters but tabs and line feeds, those of Unicode too") {
  CHECK(shown("a\tb\n") == "a\tb\n");
  CHECK(shown("\x1b]0;owned\x07\x1b[31mred\rover\0"s) == "?]0;owned??[31mred?over?");
  CHECK(shown("\xC2\x9B"
              "31m \xC2\xB5s \xC3\x9B \x7f") == "?31m \xC2\xB5s \xC3\x9B ?");
  std::ostringstream to;
  app::PrintableStream out(to);
  out << '\xC2' << '\x9B' << '\x1b' << 7;  // in pieces
  CHECK(to.str() == "??7");
}

TEST_CASE("a name with terminal escapes reaches neither stream of a call as it is") {
  std::ostringstream out, error;
  const std::string name = "\x1b[31mno\xC2\x9B lab";
  CHECK(app::cli::run_safely({"eval", name}, {out, error}) == 2);
  CHECK(app::cli::run_safely({name}, {out, error}) == 2);
  for (const std::string& said : {out.str(), error.str()}) {
    CHECK(said.find('\x1b') == std::string::npos);
    CHECK(said.find("\xC2\x9B") == std::string::npos);
  }
}

TEST_CASE("a stream that takes nothing more is said to have failed") {
  std::ostringstream to, error;
  to.setstate(std::ios::badbit);
  CHECK(app::cli::run_safely({"--version"}, {to, error}) == 1);
  CHECK(error.str().find("could not be written") != std::string::npos);
}
