// When callbacks save: at the end of each epoch, or after so many batches.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>

namespace rw::data {
class PositionReader;
class PositionWriter;
}  // namespace rw::data

namespace rw::keras {

class SaveFrequency {
 public:
  SaveFrequency(const char* word) : SaveFrequency(std::string(word)) {}  // NOLINT: written as "epoch"
  SaveFrequency(const std::string& word);                                // NOLINT
  template <std::integral T>
  SaveFrequency(T batches) : SaveFrequency(int64_t(batches), true) {}  // NOLINT
  bool each_epoch() const { return batches_ == 0; }
  // Whether it is time after one more batch.
  bool count_batch();

  void save(data::PositionWriter& to) const;
  void load(data::PositionReader& from);

 private:
  SaveFrequency(int64_t batches, bool counted);
  int64_t batches_ = 0;  // 0: epochs
  int64_t since_ = 0;    // the last time
};

}  // namespace rw::keras
