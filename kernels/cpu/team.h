#pragma once

/// Threads that a kernel is spread over. They are made once and wait between calls, since making one takes longer than
/// many a kernel.
namespace kernels::cpu {

/// The threads that this process may run at a time, at least 1.
int hardware_threads();

/// Calls work(context, i) for each i in [0, count): 0 on this thread, the others on threads of their own, or on this
/// one after the other where the system gives no more. Returns when all have come back; what they wrote is then seen
/// here. Not to be called from within itself; of several callers one waits for the other.
void on_threads(int count, void (*work)(const void* context, int index), const void* context);

template <class Work>
void on_threads(int count, const Work& work) {
  on_threads(
      count, [](const void* context, int index) { (*static_cast<const Work*>(context))(index); }, &work);
}

/// Piece `index` of `count` nearly equal pieces of [0, n), whose ends are multiples of `grain` (but for the last).
struct Piece {
  long from = 0, to = 0;
};
inline Piece piece_of(long n, int index, int count, long grain = 1) {
  const long grains = (n + grain - 1) / grain, from = grains * index / count * grain,
             to = grains * (index + 1) / count * grain;
  return {from < n ? from : n, to < n ? to : n};
}

}  // namespace kernels::cpu
