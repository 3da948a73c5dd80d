#include "rewind/function/autograph/to_code.h"

#include "rewind/base/error.h"

namespace rw::autograph {

void fail_not_converted() {
  fail_precondition("to_code",
                    "the file was compiled as it is: rewind_autograph(target) in the CMakeLists.txt of its "
                    "target converts it");
}

}  // namespace rw::autograph
