// The ladder of copies between host and device: an array goes to the device and comes back, and both ways count. A run
// is timed by the host, from the first call until the last byte is there, and what came back is compared with what was
// sent.
//
// cuda-host-copy:
//   pageable  memory as malloc gives it, up and then down
//   pinned    pages that stay where they are
//   chunked   in chunks on two streams: up and down at once
//
//   ridgeline kernels run cuda-host-copy --size 256MiB
#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cuda/host_rung.h"
#include "kernels/error_norm.h"
#include "kernels/sources.h"
#include "kernels/statistics.h"

namespace kernels::cuda {
namespace {

constexpr std::size_t copy_chunk_bytes = 2 << 20;

/// Host memory: pageable, or pinned for the length of a scope.
class HostArray {
 public:
  HostArray(const Driver& driver, std::size_t bytes, bool pinned) : driver_(driver), pinned_(pinned) {
    if (!pinned) {
      pageable_ = std::make_unique<std::byte[]>(bytes);
      at_ = pageable_.get();
      return;
    }
    must_have(static_cast<bool>(driver.host_allocate), "cuMemAllocHost_v2");
    must_have(static_cast<bool>(driver.host_free), "cuMemFreeHost");
    void* address = nullptr;
    must(driver, driver.host_allocate(&address, bytes), "pinning " + binary_bytes(static_cast<std::int64_t>(bytes)));
    at_ = static_cast<std::byte*>(address);
  }
  ~HostArray() {
    if (pinned_) driver_.host_free(at_);
  }
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;
  std::byte* at() const { return at_; }

 private:
  const Driver& driver_;
  bool pinned_;
  std::unique_ptr<std::byte[]> pageable_;
  std::byte* at_ = nullptr;
};

/// A second stream, and an event by which it waits for the session's.
class SecondStream {
 public:
  explicit SecondStream(const Session& session) : session_(session) {
    const Driver& d = session.driver();
    must_have(static_cast<bool>(d.stream_wait_event), "cuStreamWaitEvent");
    must(d, d.stream_create(&stream_, 1), "making a stream");
    if (const Status status = d.event_create(&arrived_, event_without_time); status != 0) {
      d.stream_destroy(stream_);
      must(d, status, "making an event");
    }
  }
  ~SecondStream() {
    session_.driver().event_destroy(arrived_);
    session_.driver().stream_destroy(stream_);
  }
  SecondStream(const SecondStream&) = delete;
  SecondStream& operator=(const SecondStream&) = delete;
  Stream stream() const { return stream_; }
  /// What comes after this on the second stream waits for what was put on the session's before.
  void follow() const {
    const Driver& d = session_.driver();
    must(d, d.event_record(arrived_, session_.stream()), "recording an event");
    must(d, d.stream_wait_event(stream_, arrived_, 0), "waiting on a stream");
  }

 private:
  const Session& session_;
  Stream stream_ = nullptr;
  Event arrived_ = nullptr;
};

/// A host array to send, a device array, a host array to receive, and two streams.
class Transfer {
 public:
  Transfer(const Session& session, std::int64_t bytes, bool pinned)
      : session_(session),
        driver_(session.driver()),
        bytes_(static_cast<std::size_t>(bytes)),
        device_(session.driver(), bytes, "cuda-host-copy"),
        sent_(session.driver(), bytes_, pinned),
        received_(session.driver(), bytes_, pinned),
        second_(session) {
    must_have(static_cast<bool>(driver_.copy_up), "cuMemcpyHtoDAsync_v2");
    must_have(static_cast<bool>(driver_.copy_down), "cuMemcpyDtoHAsync_v2");
  }
  std::size_t bytes() const { return bytes_; }
  DevicePointer device() const { return device_.address(); }
  std::byte* sent() const { return sent_.at(); }
  std::byte* received() const { return received_.at(); }

  void up(std::size_t at, std::size_t bytes) const {
    must(driver_, driver_.copy_up(device() + at, sent() + at, bytes, session_.stream()), "copying to the device");
  }
  void down(std::size_t at, std::size_t bytes) const {
    must(driver_, driver_.copy_down(received() + at, device() + at, bytes, second_.stream()),
         "copying from the device");
  }
  void down_waits_for_up() const { second_.follow(); }
  void wait() const {
    session_.synchronize("copying");
    must(driver_, driver_.stream_synchronize(second_.stream()), "copying");
  }

 private:
  const Session& session_;
  const Driver& driver_;
  std::size_t bytes_;
  DeviceArray device_;
  HostArray sent_, received_;
  SecondStream second_;
};

// rung: pageable
// The host's memory is what malloc gave. Its pages may move, so the driver copies a piece at a time between them and
// pinned pages of its own, and the device reads and writes those.
void run_pageable(const Transfer& pageable) {
  pageable.up(0, pageable.bytes());
  pageable.down_waits_for_up();
  pageable.down(0, pageable.bytes());
  pageable.wait();
}
// end rung

// rung: pinned
// The host's pages are pinned (cuMemAllocHost): the device reads and writes them itself, and the CPU does nothing.
void run_pinned(const Transfer& pinned) {
  pinned.up(0, pinned.bytes());
  pinned.down_waits_for_up();
  pinned.down(0, pinned.bytes());
  pinned.wait();
}
// end rung

// rung: chunked
// The same pinned pages, 2 MiB at a time. A chunk comes back on a second stream while the next one goes up.
void run_chunked(const Transfer& pinned) {
  for (std::size_t at = 0; at < pinned.bytes(); at += copy_chunk_bytes) {
    const std::size_t bytes = std::min(copy_chunk_bytes, pinned.bytes() - at);
    pinned.up(at, bytes);
    pinned.down_waits_for_up();
    pinned.down(at, bytes);
  }
  pinned.wait();
}
// end rung

std::int64_t host_copy_words(std::int64_t bytes) { return bytes / 4; }
std::int64_t host_copy_bytes(std::int64_t bytes) { return bytes; }
constexpr std::uint32_t sent_below = 1 << 24;  // never the poison

class CopyRung : public HostRung {
 public:
  CopyRung(const Session& session, std::string_view rung, std::int64_t size)
      : session_(session),
        run_(rung == "pageable" ? run_pageable
             : rung == "pinned" ? run_pinned
                                : run_chunked),
        transfer_(session, size, rung != "pageable") {}

  void fill(std::uint32_t seed) override;
  double run() override {
    const double start_s = session_.machine().now_s();
    run_(transfer_);
    return session_.machine().now_s() - start_s;
  }
  std::vector<std::byte> result() override { return {transfer_.received(), transfer_.received() + transfer_.bytes()}; }

 private:
  const Session& session_;
  void (*run_)(const Transfer&);
  Transfer transfer_;
};

std::unique_ptr<HostRung> make_copies(const Session& session, std::string_view rung, std::int64_t size) {
  return std::make_unique<CopyRung>(session, rung, size);
}

/// Bytes over the link, up and down.
models::OpCost host_copy_cost(std::int64_t bytes) {
  return {0, static_cast<double>(bytes), static_cast<double>(bytes)};
}

Deviation host_copy_compare(const Outcome& outcome) {
  const std::span<const std::uint32_t> out = words_of(outcome);
  Deviation d;
  ErrorNorm norm;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == poison_word) ++d.never_written;
    norm.add(static_cast<double>(out[i]),
             input_value(outcome.operation, outcome.seed, 0, static_cast<std::int64_t>(i)));
  }
  d.error = norm.value();
  return d;
}

const Ladder& host_copy_ladder() {
  static const std::array rungs{
      Rung{"pageable", "pageable memory",
           "Memory of malloc: the driver copies it through pinned pages of its own, and those copies are the CPU's.",
           embedded_source("cuda/host_copy.cpp:pageable"), "", "gpu_host"},
      Rung{"pinned", "pinned memory",
           "Pages that cannot move: the device reads and writes them itself, one way after the other.",
           embedded_source("cuda/host_copy.cpp:pinned"), "", "gpu_host"},
      Rung{"chunked", "chunks on two streams",
           "A chunk comes back while the next one goes up: the link works both ways at once.",
           embedded_source("cuda/host_copy.cpp:chunked"), "", "gpu_host"},
  };
  static const Ladder ladder{
      "cuda-host-copy", "GPU host copies", Device::cuda, Measure::bytes_per_s, "Array", "B", 1 << 20,
      1 << 28,          1 << 30,           rungs,        host_copy_cost};
  return ladder;
}

}  // namespace

void CopyRung::fill(std::uint32_t seed) {
  const auto bytes = static_cast<std::int64_t>(transfer_.bytes());
  const std::vector<std::byte> in = input_bytes(host_copy_operation(), bytes, seed, 0);
  std::memcpy(transfer_.sent(), in.data(), in.size());
  for (std::size_t at = 0; at < transfer_.bytes(); at += 4)
    std::memcpy(transfer_.received() + at, &poison_word, sizeof poison_word);
  session_.fill_words(transfer_.device(), poison_word, bytes / 4);
  transfer_.wait();
}

void must_have(bool there, const char* name) {
  if (!there) throw Failure(std::string("This CUDA driver has no ") + name + ": install a newer one.", false);
}

double host_link_bytes_per_s(const Session& session, double seconds) {
  constexpr std::int64_t bytes = 64 << 20;
  const Transfer there(session, bytes, true), back(session, bytes, true);
  std::vector<double> samples;
  const auto now_s = [&] { return session.machine().now_s(); };
  const double start_s = now_s();
  for (int i = 0; i < 5 || (i < 1000 && now_s() - start_s < seconds); ++i) {
    const double run_s = now_s();
    there.up(0, there.bytes());
    back.down(0, back.bytes());
    there.wait();
    back.wait();
    samples.push_back(now_s() - run_s);
  }
  return 2 * static_cast<double>(bytes) / summarize(samples).median;
}

const Operation& host_copy_operation() {
  static const Operation operation{
      .ladder = &host_copy_ladder(),
      .granule = 4,
      .edge_size = 4 * 655411,  // a chunk and a part of one
      .inputs = {{.element = Element::u32, .count = host_copy_words, .below = sent_below}},
      .output_bytes = host_copy_bytes,
      .compare = host_copy_compare,
      .host = make_copies,
  };
  return operation;
}

}  // namespace kernels::cuda
