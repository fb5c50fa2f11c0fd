#include "kernels/cuda/failure.h"

#include <algorithm>
#include <array>

namespace kernels::cuda {
namespace {

struct Known {
  Status status;
  const char* meaning;
};
/// CUresult: the errors a kernel or a machine is likely to cause.
constexpr std::array known{
    Known{2, "The GPU has too little free memory"},
    Known{100, "The driver sees no CUDA device"},
    Known{209, "The kernel was compiled for another kind of GPU"},
    Known{222, "The driver is older than the compiler: update the driver or use an older toolkit"},
    Known{500, "The source has no kernel of the expected name: it must keep its extern \"C\" entry"},
    Known{700, "The kernel read or wrote outside its arrays"},
    Known{701, "A block asks for more registers, threads or shared memory than a multiprocessor has"},
    Known{702, "The kernel ran so long that the driver ended it"},
    Known{710, "An assertion in the kernel failed"},
    Known{715, "The kernel met an illegal instruction"},
    Known{716, "The kernel used an address that is not a multiple of the access size"},
    Known{717, "The kernel used an address of the wrong memory space"},
    Known{718, "The kernel jumped outside its code"},
    Known{719, "The kernel failed while running"},
    Known{803, "The driver and its kernel module do not match: restart the machine"},
};

}  // namespace

bool loses_context(Status status) {
  constexpr std::array sticky{214, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 999};
  return std::find(sticky.begin(), sticky.end(), status) != sticky.end();
}

std::string sentence(const Driver& driver, Status status, std::string_view doing) {
  const char* name = nullptr;
  if (!driver.error_name || driver.error_name(status, &name) != 0 || !name) name = "unknown";
  const auto* row = std::find_if(known.begin(), known.end(), [&](const Known& k) { return k.status == status; });
  const std::string meaning = row != known.end() ? row->meaning : "The CUDA driver reported an error";
  return meaning + " (error " + std::to_string(status) + ", " + name + ", while " + std::string(doing) + ").";
}

void must(const Driver& driver, Status status, std::string_view doing) {
  if (status != 0) throw Failure(sentence(driver, status, doing), loses_context(status));
}

}  // namespace kernels::cuda
