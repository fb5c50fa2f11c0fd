#include "app/kernel_runs/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "widgets/number/number.h"

extern char** environ;

namespace app {
namespace {

using How = ChildEnd::How;
constexpr std::size_t tail_bytes = 4096;
constexpr auto look = std::chrono::milliseconds(50);

/// Closes what it holds.
struct Handle {
  int fd = -1;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};
struct Pipe {
  Handle read, write;
  bool open() {
    int fds[2];
    if (::pipe2(fds, O_CLOEXEC) != 0) return false;
    read.fd = fds[0];
    write.fd = fds[1];
    return true;
  }
};

/// 0, or the error number.
int spawn(const std::vector<std::string>& argv, const Pipe& out, const Pipe& err, pid_t& pid) {
  std::vector<char*> words;
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write.fd, 1);
  posix_spawn_file_actions_adddup2(&files, err.write.fd, 2);
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);  // whoever prints for a reader that is gone ends
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setpgroup(&how, 0);  // so that what it starts can be ended with it
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = argv.empty() ? ENOENT : ::posix_spawn(&pid, words[0], &files, &how, words.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

class LineReader {
 public:
  LineReader(const ChildLimits& limits, const TakeLine& take) : limits_(limits), take_(take) {}

  /// Takes what was printed; the way the child must end, or `exited` while all is well.
  How feed(std::string_view bytes, std::string& why) {
    total_ += bytes.size();
    if (total_ > limits_.total_bytes) {
      why = "it printed more than " + std::to_string(limits_.total_bytes >> 20) + " MiB";
      return How::flooded;
    }
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      line_.append(bytes.substr(0, end));
      if (line_.size() > limits_.line_bytes) {
        why = "it printed a line of more than " + std::to_string(limits_.line_bytes >> 10) + " KiB";
        return How::flooded;
      }
      if (end == std::string_view::npos) return How::exited;
      bytes.remove_prefix(end + 1);
      last_line_s_ = limits_.clock();
      if (last_line_s_ - second_s_ >= 1) {
        second_s_ = last_line_s_;
        lines_ = 0;
      }
      if (++lines_ > limits_.lines_per_s) {
        why = "it printed more than " + std::to_string(limits_.lines_per_s) + " lines in a second";
        return How::flooded;
      }
      auto taken = take_(line_);
      line_.clear();
      if (!taken) {
        why = std::move(taken.error);
        return How::refused;
      }
    }
    return How::exited;
  }
  bool in_a_line() const { return !line_.empty(); }
  double silent_s() const { return limits_.clock() - last_line_s_; }

 private:
  const ChildLimits& limits_;
  const TakeLine& take_;
  std::string line_;
  std::size_t total_ = 0, lines_ = 0;
  double second_s_ = limits_.clock(), last_line_s_ = second_s_;
};

void keep_tail(std::string& tail, std::string_view more) {
  tail.append(more.substr(more.size() - std::min(more.size(), tail_bytes)));
  if (tail.size() > tail_bytes) tail.erase(0, tail.size() - tail_bytes);
}

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(number);
}

/// ": what it said last", from standard error.
std::string said(const std::string& tail) {
  std::string_view rest(tail);
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
  const auto line = rest.rfind('\n');
  std::string last(line == std::string_view::npos ? rest : rest.substr(line + 1));
  for (char& c : last)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return last.empty() ? std::string() : ", saying \"" + last.substr(0, 200) + "\"";
}

/// Why it ended, as a sentence; empty where it ended well, or somebody ended it.
std::string why_of(const ChildEnd& end, const ChildLimits& limits, const std::string& fault) {
  switch (end.how) {
    case How::exited:
      return end.code == 0 ? std::string()
                           : "The worker gave up with status " + std::to_string(end.code) + said(end.error_tail) + ".";
    case How::signalled:
      return "The worker crashed (" + signal_name(end.code) + ")" + said(end.error_tail) + ".";
    case How::hung:
      return "The worker said nothing for " + widgets::format_text(limits.silence_s, "s", 3) + " and was ended.";
    case How::flooded:
    case How::refused:
      return "The worker was ended because " + fault + ".";
    case How::truncated:
      return "The worker ended in the middle of a line.";
    case How::cancelled:
    case How::not_started:
      break;
  }
  return "";
}

/// Has it ended? It stays a zombie until its group has been killed, so that its number means nobody else.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid;
}

/// Ends it with whatever it has started and left behind; its status.
int end_group(pid_t pid) {
  ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Listens to a child until it ends, or has to be ended.
class ChildListener {
 public:
  ChildListener(Pipe& out, Pipe& err, const ChildLimits& limits, const TakeLine& take, ChildEnd& end)
      : out_(out.read), err_(err.read), limits_(limits), reader_(limits, take), end_(end) {
    ::fcntl(out_.fd, F_SETFL, O_NONBLOCK);
    ::fcntl(err_.fd, F_SETFL, O_NONBLOCK);
  }

  /// `end.how` stays How::exited where the child ends by itself.
  void listen(pid_t pid, const std::function<bool()>& stop) {
    end_.how = How::exited;
    for (bool ended = false; end_.how == How::exited && !ended;) {
      wait();
      if (stop && stop())
        end_.how = How::cancelled;
      else
        read_all();
      if (end_.how == How::exited && reader_.silent_s() > limits_.silence_s) end_.how = How::hung;
      if (end_.how == How::exited && has_ended(pid)) {
        ended = true;
        read_all();  // what it wrote last
      }
    }
  }
  bool in_a_line() const { return reader_.in_a_line(); }
  const std::string& fault() const { return fault_; }

 private:
  void wait() {
    std::array<pollfd, 2> fds{{{out_.fd, POLLIN, 0}, {err_.fd, POLLIN, 0}}};
    if (out_.fd >= 0 || err_.fd >= 0)
      ::poll(fds.data(), fds.size(), static_cast<int>(look.count()));
    else
      std::this_thread::sleep_for(look / 10);
  }
  void read_all() {
    if (err_.fd >= 0) drain(err_, [&](std::string_view bytes) { keep_tail(end_.error_tail, bytes); });
    if (out_.fd >= 0) drain(out_, [&](std::string_view bytes) { end_.how = reader_.feed(bytes, fault_); });
  }
  /// Reads what is there, and closes the pipe when nobody can write any more.
  template <class Use>
  void drain(Handle& from, const Use& use) {
    for (;;) {
      const ssize_t n = ::read(from.fd, buffer_.data(), buffer_.size());
      if (n > 0) {
        use(std::string_view(buffer_.data(), static_cast<std::size_t>(n)));
        if (end_.how != How::exited) return;
      } else if (n < 0 && errno == EINTR) {
        continue;
      } else {
        if (n == 0) from.close();
        return;
      }
    }
  }

  Handle& out_;
  Handle& err_;
  const ChildLimits& limits_;
  LineReader reader_;
  ChildEnd& end_;
  std::string fault_;
  std::array<char, 65536> buffer_;
};

}  // namespace

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

ChildEnd run_child(const std::vector<std::string>& argv, const ChildLimits& limits, const TakeLine& take,
                   const std::function<bool()>& stop) {
  ChildEnd end;
  Pipe out, err;
  if (!out.open() || !err.open()) {
    end.why = std::string("The worker could not be started (no pipe: ") + std::strerror(errno) + ").";
    return end;
  }
  pid_t pid = 0;
  if (const int error = spawn(argv, out, err, pid); error != 0) {
    end.why = "The worker " + (argv.empty() ? std::string() : argv[0]) + " could not be started (" +
              std::strerror(error) + ").";
    return end;
  }
  out.write.close();
  err.write.close();
  ChildListener listener(out, err, limits, take, end);
  listener.listen(pid, stop);
  const int status = end_group(pid);
  if (end.how == How::exited && WIFSIGNALED(status)) end.how = How::signalled;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  if (end.how == How::exited && end.code == 0 && listener.in_a_line()) end.how = How::truncated;
  end.why = why_of(end, limits, listener.fault());
  return end;
}

}  // namespace app
