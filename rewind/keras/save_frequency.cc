#include "rewind/keras/save_frequency.h"

#include "rewind/base/error.h"
#include "rewind/data/position.h"

namespace rw::keras {

SaveFrequency::SaveFrequency(const std::string& word) {
  if (word != "epoch")
    fail_invalid("save_freq", "expected \"epoch\" or a number of batches: got \"" + word + "\"");
}
SaveFrequency::SaveFrequency(int64_t batches, bool) : batches_(batches) {
  if (batches <= 0)
    fail_invalid("save_freq",
                 "expected \"epoch\" or a positive number of batches: got " + std::to_string(batches));
}

bool SaveFrequency::count_batch() {
  if (each_epoch() || ++since_ < batches_) return false;
  since_ = 0;
  return true;
}

void SaveFrequency::save(data::PositionWriter& to) const { to.number(since_); }
void SaveFrequency::load(data::PositionReader& from) { since_ = from.number(0, INT64_MAX); }

}  // namespace rw::keras
