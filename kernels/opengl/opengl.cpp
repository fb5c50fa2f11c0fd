#include "kernels/opengl/opengl.h"

#include "kernels/opengl/context.h"
#include "kernels/opengl/run.h"
#include "kernels/opengl/session.h"

namespace kernels::opengl {

models::Status can_be_timed() { return models::Status{why_not_timed(open_machine())}; }

models::Status run(const Request& request, const Ladder& ladder, const Listener& listener) {
  return run_on(open_machine(), request, ladder, listener);
}

Roofs measure_roofs(double seconds, const Listener& listener) {
  return measure_roofs_on(open_machine(), seconds, listener);
}

}  // namespace kernels::opengl
