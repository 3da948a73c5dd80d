// A folder in memory for the files of a fuzz input. One per process: a killed run leaves one folder, not
// thousands.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace rw::fuzz {

class Scratch {
 public:
  explicit Scratch(const char* name) {
    const char* memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ = std::string(memory) + "/rewind-fuzz-" + name + "-XXXXXX";
    if (!mkdtemp(path_.data())) abort();
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  // Folders on the way are made.
  std::string put(const std::string& name, std::string_view bytes) const {
    const std::string path = *this / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), std::streamsize(bytes.size()));
    if (!out.flush()) abort();
    return path;
  }

 private:
  std::string path_;
};

}  // namespace rw::fuzz
