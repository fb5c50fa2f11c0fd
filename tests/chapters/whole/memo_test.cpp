#include "chapters/mechanism/memo.h"

#include <catch2/catch_test_macros.hpp>
#include <future>
#include <memory>

namespace chapters {
namespace {

using IntMemo = Memo<int, int, 2>;

TEST_CASE("a memo makes a value once, drops what was asked for longest ago, and keeps no cancelled one") {
  IntMemo memo;
  int made = 0;
  const auto twice = [&](int key) {
    ++made;
    return std::make_shared<const int>(2 * key);
  };
  CHECK(*memo.get(3, twice) == 6);
  CHECK(*memo.get(3, twice) == 6);
  CHECK(made == 1);
  CHECK(memo.get(4, [](int) { return std::shared_ptr<const int>(); }) == nullptr);
  CHECK(*memo.get(4, twice) == 8);
  CHECK(*memo.get(3, twice) == 6);
  CHECK(made == 2);
  CHECK(*memo.get(5, twice) == 10);  // 4 goes
  CHECK(*memo.get(3, twice) == 6);
  CHECK(made == 3);
  CHECK(*memo.get(4, twice) == 8);
  CHECK(made == 4);
}

TEST_CASE("while a value is being made, another is had, and who asks for the same waits for it") {
  IntMemo memo;
  std::promise<void> begun, go_on;
  std::future<void> may_end = go_on.get_future();
  int made = 0;
  const auto slow = [&](int key) {
    ++made;
    begun.set_value();
    may_end.wait();
    return std::make_shared<const int>(key);
  };
  auto first = std::async(std::launch::async, [&] { return memo.get(1, slow); });
  begun.get_future().wait();
  // With one lock over the making this would never return.
  CHECK(*memo.get(2, [](int key) { return std::make_shared<const int>(10 * key); }) == 20);
  auto same = std::async(std::launch::async, [&] { return memo.get(1, slow); });
  go_on.set_value();
  const auto value = first.get();
  CHECK(*value == 1);
  CHECK(same.get() == value);
  CHECK(made == 1);
}

}  // namespace
}  // namespace chapters
