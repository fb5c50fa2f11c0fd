#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstring>
#include <new>
#include <sstream>
#include <streambuf>
#include <thread>

#include "app/cli/cli.h"
#include "app/workspace/jobs.h"
#include "tests/faults/injection.h"
#include "tests/faults/program.h"
#include "tests/support/base/files.h"
#include "tests/support/base/paths.h"

/// What only the whole program shows: files that wait, streams that are closed, limits of the system, how it was
/// linked.

namespace {

using faults::run_line;
using support::Folder;

/// Runs it, and checks that it did not hang and answered with one sentence and this status.
std::string refused(const Folder& folder, const std::string& line, int status) {
  const auto ran = run_line(folder.path, line);
  INFO(line << "\n" << ran.out << ran.error);
  CHECK_FALSE(ran.hung);
  CHECK(ran.status == status);
  CHECK(ran.error.size() > 1);
  CHECK(ran.error.find('\n') == ran.error.size() - 1);
  CHECK(ran.error[ran.error.size() - 2] == '.');
  return ran.error;
}

std::string wide_object(int keys) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":" + std::to_string(i);
  return text + "}";
}

}  // namespace

TEST_CASE("pipes, devices and folders in the place of a file are refused at once, whoever names them") {
  const Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  folder.write("scenario.json", R"({"lab":"roofline/roofline","inputs":{"measured":"pipe"}})");
  for (const char* name : {"pipe", "/dev/ptmx", "/dev/zero", "."}) {
    const std::string path(name);
    CHECK(refused(folder, "$R eval roofline/roofline --set measured=" + path, 2).find("choose a file") !=
          std::string::npos);
    refused(folder, "$R eval --scenario " + path, 2);
    refused(folder, "$R eval roofline/transformer-layer --set config=" + path, 2);
    refused(folder, "$R eval serving/batching --set trace=" + path, 2);
    refused(folder, "$R kernels run cuda-transpose --rung naive --source " + path, 2);
    refused(folder, "$R trace " + path, 2);
  }
  CHECK(refused(folder, "$R eval --scenario scenario.json", 2).find("is a pipe or a device") != std::string::npos);
  const std::string trace = support::data_file("traces/small.json");
  CHECK(refused(folder, "$R trace " + trace + " -o pipe", 2).find("a pipe that nobody reads") != std::string::npos);
  // Standard input is read where it is named on the command line.
  const auto piped =
      run_line(folder.path, R"(echo '{"lab":"roofline/roofline","inputs":{}}' | $R eval --scenario /dev/stdin)");
  CHECK(piped.status == 0);
  CHECK(piped.out.find("intensity") != std::string::npos);
}

TEST_CASE("pipes among one's own chips, models and drills are left out with a sentence, and nothing waits for them") {
  for (const char* kind : {"chips", "models", "drills"}) {
    const Folder folder;
    std::filesystem::create_directories(folder / ".config/ridgeline" / kind);
    REQUIRE(mkfifo((folder / ".config/ridgeline" / kind / "mine.json").c_str(), 0600) == 0);
    const auto ran = run_line(folder.path, "$R check roofline/iron-law");
    INFO(ran.error);
    CHECK_FALSE(ran.hung);
    CHECK(ran.status == 0);
    CHECK(ran.error.find("mine.json is a pipe or a device: choose a file on the disk.") != std::string::npos);
  }
}

TEST_CASE("thousands of bad chips are told by the first few and their number") {
  const Folder folder;
  std::filesystem::create_directories(folder / ".config/ridgeline/chips");
  for (int i = 0; i < 100; ++i) folder.write(".config/ridgeline/chips/" + std::to_string(i) + ".json", "{");
  const auto ran = run_line(folder.path, "$R check roofline/iron-law");
  CHECK(ran.status == 0);
  CHECK(std::count(ran.error.begin(), ran.error.end(), '\n') == 6);
  CHECK(ran.error.find("And 95 more faults of that kind") != std::string::npos);
}

TEST_CASE("half a million keys in one object are read in a time that grows with the text") {
  const Folder folder;
  folder.write("wide.json", R"({"lab":"roofline/roofline","inputs":)" + wide_object(500'000) + "}");
  CHECK(refused(folder, "$R eval --scenario wide.json", 2).find("has no input \"k0\"") != std::string::npos);
  std::filesystem::create_directories(folder / ".config/ridgeline/drills");
  folder.write(".config/ridgeline/drills/wide.json", wide_object(400'000));
  const auto ran = run_line(folder.path, "$R check roofline/iron-law");
  CHECK_FALSE(ran.hung);
  CHECK(ran.status == 0);
}

TEST_CASE("output that cannot be written is a sentence and an exit status that is not 0, in every call") {
  const Folder folder;
  const std::string trace = support::data_file("traces/small.json");
  for (const std::string& call :
       std::vector<std::string>{"list", "list --json", "eval roofline/roofline", "eval roofline/roofline --json",
                                "sweep roofline/roofline --over batch=1:8:4 --output intensity",
                                "sensitivity roofline/roofline --output intensity", "trace " + trace,
                                "trace --json " + trace, "check roofline/iron-law", "drill --count 1", "kernels list",
                                "kernels list --json", "--help", "help trace", "--version"})
    for (const char* to : {" >/dev/full", " >&-"}) {
      const auto ran = run_line(folder.path, "$R " + call + to + " </dev/null");
      INFO(call << to << ": " << ran.error);
      CHECK_FALSE(ran.hung);
      CHECK(ran.status != 0);
      CHECK(ran.error.find("could not be written to standard output") != std::string::npos);
    }
}

TEST_CASE("what is exported while a standard stream is closed goes to the file and no stream into it") {
  const Folder folder;
  const std::string trace = support::data_file("traces/small.json");
  run_line(folder.path, "$R trace " + trace + " -o whole.json");
  run_line(folder.path, "$R trace " + trace + " -o closed.json >&- 2>&- <&-");
  CHECK(folder.read("closed.json") == folder.read("whole.json"));
}

TEST_CASE("no memory and no threads are a sentence, not an abort") {
  const Folder folder;
  for (const int kilobytes : {70'000, 90'000}) {
    const auto ran = run_line(folder.path, "ulimit -v " + std::to_string(kilobytes) + "; $R check");
    INFO(kilobytes << ": " << ran.error);
    CHECK(ran.status < 128);  // 127: there is not even room for its libraries
    if (ran.status == 1) CHECK(ran.error.find("There is not enough memory") != std::string::npos);
  }

  struct Throwing : std::streambuf {
    int overflow(int) override { throw std::bad_alloc(); }
  };
  Throwing buffer;
  std::ostream out(&buffer);
  out.exceptions(std::ios::badbit);  // as if a command itself had thrown
  std::ostringstream error;
  CHECK(app::cli::run_safely({"list"}, {out, error}) != 0);
  CHECK(error.str().find("There is not enough memory for this") != std::string::npos);
}

TEST_CASE("where no thread can be had, what is submitted is done before submit returns, and slots still hold") {
  int woken = 0;
  app::Jobs jobs(0, [&] { ++woken; });
  int done = 0;
  const app::Job first = jobs.submit("slot", [&](chapters::Progress&) { ++done; });
  CHECK(first.done());
  const app::Job second = jobs.submit("slot", [&](chapters::Progress&) { throw std::bad_alloc(); });
  CHECK(second.ended());
  CHECK_FALSE(second.done());
  CHECK(second.error().find("more memory than there is") != std::string::npos);
  CHECK(done == 1);
  CHECK(woken == 2);
  CHECK(jobs.busy() == 0);
}

TEST_CASE("a file that may not grow is a sentence, and leaves nothing beside it") {
  const Folder folder;
  const std::string trace = support::data_file("traces/small.json");
  const auto ran = run_line(folder.path, "ulimit -f 1; $R trace " + trace + " " + "-o out.json >/dev/null");
  INFO(ran.error);
  CHECK(ran.status == 2);
  CHECK(ran.error.find("File too large") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "out.json"));
  CHECK(folder.count("out.json") == 0);
}

TEST_CASE("a trace that is written when a signal comes is the old file or the new one, and nothing lies beside it") {
  const Folder folder;
  // Large enough that writing it takes a while.
  std::string json = R"({"traceEvents":[)";
  for (int i = 0; i < 60'000; ++i)
    json += std::string(i ? "," : "") + R"({"ph":"X","cat":"kernel","name":"kernel )" + std::to_string(i) +
            R"(","pid":0,"tid":7,"ts":)" + std::to_string(10 * i) + R"(,"dur":5,"args":{"device":0,"stream":7}})";
  folder.write("in.json", json + "]}");
  folder.write("out.json", "old");
  run_line(folder.path, "$R trace in.json -o new.json");
  const std::string whole = folder.read("new.json");
  std::filesystem::remove(folder / "new.json");
  REQUIRE(whole.size() > 1'000'000);
  const int unnamed = ::open(folder.path.c_str(), O_TMPFILE | O_WRONLY, 0600);
  const bool unnamed_files = unnamed >= 0;  // not on every file system
  if (unnamed_files) ::close(unnamed);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGKILL})
    for (int moment = 0; moment < 3; ++moment) {
      faults::Child child(folder.path, {faults::program().string(), "trace", "in.json", "-o", "out.json"},
                          {"HOME=" + folder.path.string()});
      child.wait(0.08 + 0.1 * moment);
      child.signal(number);
      REQUIRE(child.wait(30) >= 0);
      const std::string found = folder.read("out.json");
      INFO("signal " << number << ", moment " << moment);
      CHECK((found == "old" || found == whole));
      if (number != SIGKILL || unnamed_files) CHECK(folder.count("out.json") == 1);
    }
}

TEST_CASE("what cannot run says so before anything is measured, and a path of thousands of characters is cut") {
  const Folder folder;
  folder.write("kernel.cu", "extern \"C\" __global__ void k() {}");
  CHECK(refused(folder, "$R kernels run cpu-sgemm --seconds 1e300", 2) ==
        "The time for a rung must be more than 0 s and at most 60 s.\n");
  CHECK(refused(folder, "$R kernels run cpu-sgemm --rung naive --source kernel.cu", 2).find("Only kernels of") == 0);
  CHECK(refused(folder, "$R eval roofline/roofline --set measured=" + std::string(4000, 'x'), 2).size() < 200);
  CHECK(refused(folder, "$R trace " + std::string(200, 'y') + "/" + std::string(200, 'x'), 2).size() < 200);
  CHECK(refused(folder, "$R eval roofline/roofline --set batch=many", 2).find("such as 12,288.\n") !=
        std::string::npos);
  const std::string raw = refused(folder, "$R trace \"$(printf 'bad\\377\\001name')\"", 2);
  CHECK(raw.find("bad? name") != std::string::npos);
}

TEST_CASE(
    "the program is linked and compiled so that a broken buffer ends it: PIE, full RELRO, stack canaries, FORTIFY") {
  if (!RIDGELINE_HARDENED) SKIP("a build with sanitizers or without optimization");
  const std::string bytes = support::read_text(faults::program());
  Elf64_Ehdr head;
  REQUIRE(bytes.size() > sizeof head);
  std::memcpy(&head, bytes.data(), sizeof head);
  REQUIRE(std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0);
  CHECK(head.e_type == ET_DYN);
  bool relro = false, now = false, stack_runs = true;
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part;
    std::memcpy(&part, bytes.data() + head.e_phoff + static_cast<std::size_t>(i) * sizeof part, sizeof part);
    relro |= part.p_type == PT_GNU_RELRO;
    if (part.p_type == PT_GNU_STACK) stack_runs = (part.p_flags & PF_X) != 0;
    if (part.p_type != PT_DYNAMIC) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Dyn) <= part.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, bytes.data() + part.p_offset + at, sizeof entry);
      if (entry.d_tag == DT_NULL) break;
      now |= entry.d_tag == DT_BIND_NOW || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW) != 0) ||
             (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW) != 0);
    }
  }
  CHECK(relro);
  CHECK(now);
  CHECK_FALSE(stack_runs);
  CHECK(bytes.find("__stack_chk_fail") != std::string::npos);
  int checked = 0;  // functions of the library that look at the buffer's size
  for (const char* name : {"__memcpy_chk", "__snprintf_chk", "__vsnprintf_chk", "__memset_chk", "__read_chk",
                           "__memmove_chk", "__strncpy_chk", "__fprintf_chk", "__printf_chk", "__sprintf_chk"})
    checked += bytes.find(std::string(name) + '\0') != std::string::npos;
  CHECK(checked >= 2);
}
