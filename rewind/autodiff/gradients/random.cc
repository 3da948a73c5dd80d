// Draws are constants to a derivative.
#include "rewind/autodiff/rule.h"

namespace rw {

void register_random_gradients() {
  for (const char* op : {"StatelessRandomUniformV2",
                         "StatelessRandomNormalV2",
                         "StatelessTruncatedNormalV2",
                         "StatelessRandomUniformFullIntV2",
                         "StatelessRandomUniformIntV2",
                         "StatelessRandomUniform",
                         "StatelessRandomNormal",
                         "StatelessTruncatedNormal",
                         "StatelessRandomUniformFullInt",
                         "StatelessRandomUniformInt",
                         "StatelessMultinomial",
                         "StatelessRandomGetKeyCounter",
                         "StatelessRandomGetKeyCounterAlg",
                         "StatelessRandomGetAlg",
                         "RandomUniform",
                         "RandomStandardNormal",
                         "TruncatedNormal",
                         "RandomUniformInt",
                         "Multinomial",
                         "RandomShuffle",
                         "RngReadAndSkip",
                         "RngSkip"}) {
    register_not_differentiable(op);
  }
}

}  // namespace rw
