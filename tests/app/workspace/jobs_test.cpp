#include "app/workspace/jobs.h"

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>

namespace {

void await(const app::Job& job) {
  while (!job.ended()) std::this_thread::yield();
}

/// Work that runs until it is cancelled, and says when it has begun.
struct Endless {
  std::shared_ptr<std::binary_semaphore> begun = std::make_shared<std::binary_semaphore>(0);
  void operator()(chapters::Progress& progress) const {
    begun->release();
    while (!progress.cancelled) std::this_thread::yield();
  }
};

}  // namespace

TEST_CASE("a job's result is there when it is done, and its progress reads 1") {
  app::Jobs jobs;
  auto result = std::make_shared<int>(0);
  const app::Job job = jobs.submit("", [result](chapters::Progress& progress) {
    progress.fraction = 0.5;
    *result = 42;
  });
  await(job);
  CHECK(job.done());
  CHECK(*result == 42);
  CHECK(job.fraction() == 1.0);
  CHECK(job.error().empty());
}

TEST_CASE("progress is seen while the job runs, and stays within 0 and 1") {
  app::Jobs jobs;
  std::binary_semaphore told(0), seen(0);
  const app::Job job = jobs.submit("", [&](chapters::Progress& progress) {
    for (const double fraction : {0.25, 7.0, -1.0, 0.0 / 0.0}) {
      progress.fraction = fraction;
      told.release();
      seen.acquire();
    }
  });
  for (const double expected : {0.25, 1.0, 0.0, 0.0}) {
    told.acquire();
    CHECK(job.fraction() == expected);
    CHECK_FALSE(job.ended());
    seen.release();
  }
  await(job);
}

TEST_CASE("a cancelled job ends without being done") {
  app::Jobs jobs;
  const Endless endless;
  const app::Job job = jobs.submit("", endless);
  endless.begun->acquire();
  job.cancel();
  await(job);
  CHECK_FALSE(job.done());
  CHECK(job.cancelled());
  CHECK(job.error().empty());
}

TEST_CASE("a newer job cancels the older of its slot and no other") {
  app::Jobs jobs(3);
  const Endless old_work, other_work;
  const app::Job old_job = jobs.submit("search", old_work);
  const app::Job other = jobs.submit("trace", other_work);
  old_work.begun->acquire();
  other_work.begun->acquire();
  auto result = std::make_shared<int>(0);
  const app::Job newer = jobs.submit("search", [result](chapters::Progress&) { *result = 2; });
  await(old_job);
  await(newer);
  CHECK_FALSE(old_job.done());
  CHECK(newer.done());
  CHECK(*result == 2);
  CHECK_FALSE(other.ended());
  CHECK_FALSE(other.cancelled());
}

TEST_CASE("of many submissions to a busy slot only the last one runs") {
  app::Jobs jobs(1);
  const Endless blocker;
  const app::Job first = jobs.submit("other", blocker);
  blocker.begun->acquire();
  auto runs = std::make_shared<std::atomic<int>>(0);
  std::vector<app::Job> dragged;
  for (int i = 0; i < 100; ++i) dragged.push_back(jobs.submit("slider", [runs](chapters::Progress&) { ++*runs; }));
  CHECK(jobs.busy() == 2);  // superseded work does not pile up
  CHECK(dragged[0].ended());
  first.cancel();
  await(dragged.back());
  CHECK(dragged.back().done());
  CHECK(*runs == 1);
}

TEST_CASE("an exception becomes a sentence, and the worker lives on") {
  app::Jobs jobs(1);
  const app::Job bad = jobs.submit("", [](chapters::Progress&) { throw std::runtime_error("no such expert"); });
  const app::Job huge = jobs.submit("", [](chapters::Progress&) { throw std::bad_alloc(); });
  const app::Job odd = jobs.submit("", [](chapters::Progress&) { throw 7; });
  const app::Job good = jobs.submit("", [](chapters::Progress&) {});
  await(good);
  CHECK_FALSE(bad.done());
  CHECK(bad.error() == "The computation failed: no such expert.");
  CHECK(huge.error() == "The computation needs more memory than there is: choose smaller inputs.");
  CHECK(odd.error() == "The computation failed for an unknown reason.");
  CHECK(good.done());
}

TEST_CASE("each job that ends wakes the window, after its result is there") {
  std::mutex mutex;
  std::condition_variable woken;
  int wakes = 0;
  app::Jobs jobs(2, [&] {
    const std::lock_guard lock(mutex);
    ++wakes;
    woken.notify_one();
  });
  const app::Job one = jobs.submit("", [](chapters::Progress&) {});
  const app::Job two = jobs.submit("", [](chapters::Progress&) { throw 1; });
  std::unique_lock lock(mutex);
  woken.wait(lock, [&] { return wakes == 2; });
  CHECK(one.ended());
  CHECK(two.ended());
}

TEST_CASE("the end of the program cancels what runs and what waits; handles stay good") {
  const Endless endless;
  app::Job running, waiting;
  auto ran = std::make_shared<bool>(false);
  {
    app::Jobs jobs(1);
    running = jobs.submit("", endless);
    endless.begun->acquire();
    waiting = jobs.submit("", [ran](chapters::Progress&) { *ran = true; });
  }
  CHECK(running.ended());
  CHECK(waiting.ended());
  CHECK_FALSE(waiting.done());
  CHECK_FALSE(*ran);
}

TEST_CASE("an empty handle answers no to everything") {
  const app::Job none;
  none.cancel();
  CHECK_FALSE(none);
  CHECK_FALSE(none.ended());
  CHECK(none.fraction() == 0.0);
}
