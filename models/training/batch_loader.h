#pragma once
#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

/// How batches come to a training step: workers that read samples from shared storage and decode them, and a queue of
/// finished batches that is taken in order.
namespace models {

/// What loads. All workers share the storage's bandwidth and the cores; each waits for its own requests.
struct LoaderSetup {
  std::int64_t workers = 0;   ///< processes; 0: the training process loads each batch itself, when it needs it
  std::int64_t prefetch = 2;  ///< batches that each worker is asked for ahead (prefetch_factor)
  std::int64_t samples = 200;
  double samples_per_request = 1;  ///< 1: a file a sample; more: shards that are read in sequence
  double sample_bytes = 200e3;     ///< as stored
  double request_latency_s = 100e-6;
  double storage_bytes_per_s = 2e9;
  double decode_s = 1.5e-3;    ///< to decode one sample on one core
  double decode_spread = 0;    ///< a batch's time lies within 1 - spread and 1 + spread of the mean, 0 to 0.9
  std::int64_t cores = 16;     ///< that decode at once
  double batch_bytes = 150e6;  ///< a decoded batch
  bool pinned = false;         ///< a thread of the training process copies each batch into pages that stay in place
  double host_copy_bytes_per_s = 10e9;  ///< speed at which that thread copies
  std::int64_t seed = 1;
  std::int64_t pieces = 8;  ///< in which a batch is read and decoded, at most; a worker goes from one to the other
};

enum class LoaderStage : std::uint8_t { request, read, decode, idle };

/// What a worker did from `start_ns` to `end_ns`.
struct LoaderPiece {
  std::int64_t start_ns = 0, end_ns = 0, batch = 0;
  std::int32_t worker = 0;
  LoaderStage stage{};
};
/// How many of something there are from `time_ns` on.
struct LoaderLevel {
  std::int64_t time_ns = 0, count = 0;
};

/// Discrete events in integer nanoseconds, with the rules of PyTorch's DataLoader: batch k belongs to worker
/// k mod workers, workers * prefetch batches are asked for at the start and one more each time that one is taken, and
/// batches are taken in order. Storage and cores serve pieces in
/// the order in which they come. Source: torch/utils/data/dataloader.py, _MultiProcessingDataLoaderIter.
class BatchLoader {
 public:
  BatchLoader(const LoaderSetup& setup, std::int64_t rank);

  /// Takes the next batch when the training process asks for it at `now_ns`; returns when it has it. Later calls must
  /// not ask earlier.
  std::int64_t take(std::int64_t now_ns);
  /// When the batch taken last was in the queue; equal to when it was taken where somebody waited for it.
  std::int64_t ready_ns() const { return ready_of_last_; }
  /// What one batch takes one worker that shares nothing, ns.
  std::int64_t alone_ns() const;

  /// From now on keeps what happens: `pieces`, `ready` and the rest.
  void record() { recording_ = true; }
  /// What workers are in the middle of is kept up to the moment at which the last batch was taken.
  void close();
  std::vector<LoaderPiece> pieces, pins;
  std::vector<LoaderLevel> ready, reading, decoding;  ///< batches in the queue; workers at the storage, and at a core
  /// Busy time of the storage's pipe and of all cores together, of pieces begun so far.
  std::int64_t storage_busy_ns = 0, core_busy_ns = 0;

 private:
  enum class Kind : std::uint8_t { answered, arrived, decoded, pinned };
  struct Due {
    std::int64_t time_ns, order;
    std::int64_t worker;
    Kind kind;
    bool operator>(const Due& other) const {
      return time_ns != other.time_ns ? time_ns > other.time_ns : order > other.order;
    }
  };
  struct Worker {
    std::deque<std::int64_t> tasks;
    std::int64_t batch = -1, piece = 0, since_ns = 0;
    LoaderStage stage{};
  };
  void ask(std::int64_t batch, std::int64_t now_ns);
  void begin_piece(std::int64_t worker, std::int64_t now_ns);
  void begin_decoding(std::int64_t worker, std::int64_t now_ns);
  void finish_batch(std::int64_t worker, std::int64_t now_ns);
  void add_ready(std::int64_t batch, std::int64_t now_ns);
  void step();
  void keep(std::int64_t worker, LoaderStage stage, std::int64_t until_ns);
  void push(std::int64_t time_ns, std::int64_t worker, Kind kind);
  void level(std::vector<LoaderLevel>& of, std::int64_t& count, std::int64_t by, std::int64_t now_ns);
  std::int64_t samples_in(std::int64_t piece) const;
  std::int64_t request_ns(std::int64_t piece) const;
  std::int64_t read_ns(std::int64_t piece) const;
  std::int64_t decode_ns(std::int64_t batch, std::int64_t piece) const;
  std::int64_t pin_ns() const;

  LoaderSetup setup_;
  std::uint64_t luck_;
  std::int64_t pieces_ = 1, next_ = 0, order_ = 0, pipe_free_ns_ = 0, pin_free_ns_ = 0, cores_busy_ = 0;
  std::int64_t in_queue_ = 0, at_storage_ = 0, at_core_ = 0, ready_of_last_ = 0, known_ns_ = 0;
  std::vector<Worker> workers_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::deque<std::int64_t> waiting_for_core_;
  std::deque<std::int64_t> ready_ns_;  ///< when batches from next_ on were ready; -1: not there yet
  std::deque<std::int64_t> pinning_;
  bool recording_ = false;
};

/// Batches a second that storage, cores and workers allow, each alone, and what they allow together at most. Infinite
/// where a part costs nothing.
struct LoaderCeilings {
  double storage_per_s = 0, cores_per_s = 0, workers_per_s = 0, pin_per_s = 0;
  double least_per_s() const;
  /// What no number of workers gets past: all but the workers themselves.
  double shared_per_s() const;
};
LoaderCeilings loader_ceilings(const LoaderSetup& setup);

}  // namespace models
