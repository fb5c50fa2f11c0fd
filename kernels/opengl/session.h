#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/opengl/api.h"
#include "kernels/opengl/operation.h"

namespace kernels::opengl {

/// Why a rung, or the whole run, ends: thrown inside this folder and turned into a Result or a return value before it
/// leaves it.
struct Failure : std::runtime_error {
  explicit Failure(const std::string& sentence, bool lost = false) : std::runtime_error(sentence), context_lost(lost) {}
  bool context_lost = false;  ///< nothing more runs in this context
};

struct DeviceFacts {
  std::string renderer, version;
  bool software = false;
  bool core = true;  ///< OpenGL 4.3; false: two extensions of an older one
  std::int64_t max_groups = 65535, max_invocations = 1024, max_shared_bytes = 32768, max_block_bytes = 1 << 27;
  std::int64_t memory_bytes = 0;  ///< 0: the driver does not say
};

/// One sentence: why nothing is timed on this machine; empty: it can be.
std::string why_not_timed(const Machine& machine);

/// A context and its limits. All calls throw Failure.
class Session {
 public:
  explicit Session(const Machine& machine);
  const Gl& gl() const { return machine_.gl; }
  const DeviceFacts& facts() const { return facts_; }

  /// Throws when the driver has reported an error since the last call; `doing` completes "while ...": "running x".
  void must(std::string_view doing) const;
  /// Refuses what is beyond the limits of the driver, then dispatches.
  void dispatch(const Launch& launch, const std::string& name) const;
  void barrier() const { gl().memory_barrier(gl_all_barriers); }
  void synchronize(std::string_view doing) const;

 private:
  const Machine& machine_;
  DeviceFacts facts_;
};

/// Memory of the device for the length of a scope.
class Buffer {
 public:
  /// Throws Failure naming `what`: more than a shader may see at once, or than there is.
  Buffer(const Session& session, std::int64_t bytes, const std::string& what);
  ~Buffer() { session_.gl().delete_buffers(1, &name_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Name name() const { return name_; }
  void write(std::int64_t offset, std::int64_t bytes, const void* data) const;
  void read(std::int64_t offset, std::int64_t bytes, void* data) const;

 private:
  const Session& session_;
  Name name_ = 0;
};

/// A source compiled and linked. `failure` is one sentence when it was not, or when its group is not the one that the
/// rung is launched with.
class Program {
 public:
  Program(const Session& session, std::string_view source, const Launch& shape);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Uses the program with this count.
  void use(unsigned n) const;
  const std::string& failure() const { return failure_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  void compile(std::string_view source);
  void check_group(const Launch& shape);

  const Session& session_;
  Name program_ = 0;
  int count_at_ = -1;
  std::string failure_;
  std::vector<Diagnostic> diagnostics_;
};

/// "1.0 GiB", "24.0 MiB": for sentences about memory.
std::string binary_bytes(std::int64_t bytes);

}  // namespace kernels::opengl
