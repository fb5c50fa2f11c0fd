#pragma once
#include <fstream>
#include <string>

#include "app/kernel_runs/kernel_json.h"
#include "app/kernel_runs/kernel_worker.h"
#include "tests/support/base/files.h"

/// A worker that is a shell script: it prints what a test wrote for the rungs that it was asked for.
struct FakeWorker {
  support::Folder folder;
  std::string ladder = "cpu-sgemm";

  /// `body` is shell; $asked holds the words that it was called with. Functions: `result RUNG SECONDS`, `progress
  /// FRACTION`, `finish`. The clock of its limits stands still.
  app::KernelWorker worker(const std::string& body) const {
    const auto path = folder / "worker.sh";
    std::ofstream(path) << "asked=\"$*\"\n"
                        << "asks() { case \"$asked \" in *\"--rung $1 \"*) return 0;; esac; return 1; }\n"
                        << "progress() { echo '{\"event\":\"progress\",\"fraction\":'$1'}'; }\n"
                        << "finish() { echo '{\"event\":\"done\",\"failure\":\"\"}'; exit 0; }\n"
                        << "result() { sed \"s/RUNG/$1/;s/7777.0/$2/\" '" << template_path() << "'; }\n"
                        << body << "\n";
    app::KernelWorker out;
    out.program = {"/bin/sh", path.string()};
    out.limits.clock = [] { return 0.0; };
    return out;
  }

 private:
  std::string template_path() const {
    const auto path = folder / "result.json";
    app::KernelEvent event;
    event.kind = app::KernelEvent::Kind::result;
    event.result = {
        .ladder = ladder,
        .rung = "RUNG",
        .size = 768,
        .time_s = 7777,
        .samples = 30,
        .flops = 1e9,
        .bytes = 1e6,
        .error = 1e-7,
        .error_bound = 1e-5,
    };
    std::ofstream(path) << app::to_line(event) << "\n";
    return path.string();
  }
};
