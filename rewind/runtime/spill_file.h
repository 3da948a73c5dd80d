// A file that takes values for which there is no room in memory, where the user
// switched that on: unlinked as soon as it is open, so that it goes with the
// process. Blocks are whole pages; free ones are joined.
//
// Used under the history's lock (runtime/history.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace rw {

class SpillFile {
 public:
  SpillFile() = default;
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // In this folder, up to so many bytes (0: as many as the disk takes). Throws
  // NotFoundError, FailedPreconditionError (no right to write there, or a file
  // in another folder is in use) or ResourceExhaustedError.
  void open(const std::string& folder, int64_t most, double bytes_per_second);
  // Takes no more values; the file goes with the last one that it holds.
  void close();

  bool on() const { return on_; }
  bool fits(size_t bytes) const;
  // What writing and reading takes, in nanoseconds, by the speed that the user
  // stated.
  double write_cost(size_t bytes) const { return double(bytes) * ns_per_byte_; }
  double read_cost(size_t bytes) const { return double(bytes) * ns_per_byte_; }

  // Where it was put; -1 when the disk is full or fails: nothing is lost then,
  // and no more is written until something was erased.
  int64_t write(const void* data, size_t bytes);
  // False when the file cannot be read.
  bool read(int64_t at, void* data, size_t bytes) const;
  void erase(int64_t at, size_t bytes);
  int64_t used() const { return used_; }

 private:
  int64_t take(int64_t bytes);
  void give(int64_t at, int64_t bytes);
  void close_if_idle();

  int fd_ = -1;
  bool on_ = false;
  bool full_ = false;
  int64_t most_ = 0;
  int64_t used_ = 0;
  int64_t end_ = 0;
  double ns_per_byte_ = 1;
  std::string folder_;
  std::map<int64_t, int64_t> free_;  // place -> bytes, below end_
};

}  // namespace rw
