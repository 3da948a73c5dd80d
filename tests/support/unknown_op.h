// A SavedModel with an op that nobody has.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/goldens.h"

namespace rw::test {

// The golden model `kinds` in a new folder, where its lookups are of another name, as long. Gives the folder.
inline std::string with_unknown_op(const std::string& folder) {
  std::string path = golden_path("saved_model/kinds");
  path.resize(path.size() - std::string(".bin").size());
  std::filesystem::copy(path, folder, std::filesystem::copy_options::recursive);
  std::stringstream all;
  all << std::ifstream(folder + "/saved_model.pb", std::ios::binary).rdbuf();
  std::string bytes = all.str();
  const std::string known = "LookupTableFindV2", unknown = "LookupTableFindV9";
  for (size_t at = 0; (at = bytes.find(known, at)) != std::string::npos;)
    bytes.replace(at, known.size(), unknown);
  std::ofstream(folder + "/saved_model.pb", std::ios::binary) << bytes;
  return folder;
}

}  // namespace rw::test
