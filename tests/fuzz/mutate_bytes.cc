#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace rw::fuzz {

std::string mutate_bytes(std::string_view bytes, Random& random) {
  std::string out(bytes);
  for (size_t changes = 1 + below(random, 4); changes > 0; --changes) {
    if (out.empty()) out.push_back(char(random()));
    const size_t at = below(random, out.size());
    const size_t size = 1 + below(random, std::min<size_t>(out.size() - at, 32));
    switch (below(random, 8)) {
      case 0: out[at] ^= char(1U << below(random, 8)); break;
      case 1: out[at] = char(random()); break;
      case 2: std::fill_n(out.begin() + long(at), size, char(below(random, 2) ? 0xff : 0)); break;
      case 3: out.erase(at, size); break;
      case 4: out.insert(at, out.substr(at, size)); break;
      case 5: out.replace(at, size, out.substr(below(random, out.size()), size)); break;
      case 6: out.insert(at, size, char(random())); break;
      case 7:
        if (below(random, 4) == 0) out.resize(at);
        else out[at] = char(out[at] + (below(random, 2) ? 1 : -1));
        break;
    }
  }
  return out;
}

}  // namespace rw::fuzz
