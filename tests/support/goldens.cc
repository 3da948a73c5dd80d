#include "tests/support/goldens.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "rewind/base/error.h"

namespace rw::test {
namespace {

std::filesystem::path directory() {
  if (const char* named = std::getenv("REWIND_GOLDEN_DIR")) return named;
  return REWIND_GOLDEN_DIR;
}

}  // namespace

std::vector<std::string> golden_families() {
  std::vector<std::string> found;
  if (!std::filesystem::exists(directory())) return found;
  for (auto& entry : std::filesystem::directory_iterator(directory()))
    if (entry.path().extension() == ".bin") found.push_back(entry.path().stem().string());
  std::sort(found.begin(), found.end());
  return found;
}

std::string golden_path(const std::string& family) { return (directory() / (family + ".bin")).string(); }

std::string golden_bytes(const std::string& name) {
  std::ifstream file(directory() / name, std::ios::binary);
  if (!file.good()) throw NotFoundError((directory() / name).string());
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

const std::vector<Golden>& goldens(const std::string& family) {
  static std::map<std::string, std::vector<Golden>> kept;
  auto found = kept.find(family);
  if (found == kept.end()) found = kept.emplace(family, read_goldens(golden_path(family))).first;
  return found->second;
}

}  // namespace rw::test
