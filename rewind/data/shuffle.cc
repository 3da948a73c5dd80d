// shuffle: a buffer of elements from which the next is drawn. The order for a seed is TensorFlow's: the same
// generator, the same draws.
#include <random>

#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/kernel/cpu/random_draw.h"

namespace rw::data {
namespace {

// Words of TensorFlow's generator for two seeds, one after the other.
class SeededWords {
 public:
  SeededWords(uint64_t seed, uint64_t seed2, int64_t skip)
      : key_(seed), high_(seed2), words_(Philox{seed, 0, seed2}) {
    skip_to(skip);
  }
  uint32_t operator()() {
    ++count_;
    return words_();
  }
  int64_t count() const { return count_; }

 private:
  void skip_to(int64_t count) {
    words_ = PhiloxWords(Philox{key_, 0, high_}.skipped(uint64_t(count / 4)));
    for (int64_t i = count / 4 * 4; i < count; ++i) words_();
    count_ = count;
  }
  uint64_t key_, high_;
  int64_t count_ = 0;
  PhiloxWords words_;
};

// Gives each pass over the dataset its seeds: the same ones, or new ones from a stream.
class PassSeeds {
 public:
  PassSeeds(int64_t seed, int64_t seed2, bool reshuffle)
      : seed_(uint64_t(seed)), seed2_(uint64_t(seed2)), reshuffle_(reshuffle) {
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      seed_ = uint64_t(device()) << 32 | device();
      seed2_ = uint64_t(device()) << 32 | device();
    }
    words_.emplace(seed_, seed2_, 0);
  }
  std::pair<uint64_t, uint64_t> next() {
    const std::lock_guard lock(mutex_);
    if (!reshuffle_) return {seed_, seed2_};
    const uint64_t a = (*words_)();
    const uint64_t b = (*words_)();
    return {a, b};
  }
  void save(PositionWriter& to) {
    const std::lock_guard lock(mutex_);
    to.number(int64_t(seed_));
    to.number(int64_t(seed2_));
    to.number(words_->count());
  }
  void load(PositionReader& from) {
    const std::lock_guard lock(mutex_);
    seed_ = uint64_t(from.number());
    seed2_ = uint64_t(from.number());
    words_.emplace(seed_, seed2_, from.number(0, INT64_MAX));
  }

 private:
  std::mutex mutex_;
  uint64_t seed_, seed2_;
  const bool reshuffle_;
  std::optional<SeededWords> words_;
};

// Rows of a table are buffered as numbers, other elements as they are.
template <class Item>
class ShuffleCursor final : public Cursor {
 public:
  ShuffleCursor(const Node& input, int64_t buffer_size, PassSeeds& seeds)
      : table_(input.table()), limit_(buffer_size), seeds_(seeds), input_(input.cursor()) {
    restart(seeds.next(), 0);
  }

  bool next(Element* out) override {
    Item item;
    if (!draw(&item)) return false;
    if constexpr (kRows) rows_of(*table_, item, out);
    else *out = std::move(item);
    return true;
  }
  int64_t next_rows(int64_t* rows, int64_t n) override {
    if constexpr (kRows) {
      int64_t got = 0;
      while (got < n && draw(rows + got)) ++got;
      return got;
    } else {
      return Cursor::next_rows(rows, n);
    }
  }

  void save(PositionWriter& to) override {
    to.mark("shuffle");
    seeds_.save(to);
    to.number(int64_t(pass_seeds_.first));
    to.number(int64_t(pass_seeds_.second));
    to.number(words_->count());
    to.number(ended_);
    to.number(int64_t(count_));
    for (size_t i = 0; i < count_; ++i) {
      const Item& item = buffer_[(start_ + i) % buffer_.size()];
      if constexpr (kRows) to.number(item);
      else to.element(item);
    }
    input_->save(to);
  }
  void load(PositionReader& from) override {
    from.mark("shuffle");
    seeds_.load(from);
    const auto a = uint64_t(from.number());
    const auto b = uint64_t(from.number());
    restart({a, b}, from.number(0, INT64_MAX));
    ended_ = from.number(0, 1) != 0;
    count_ = size_t(from.number(0, limit_));
    start_ = 0;
    buffer_.clear();
    for (size_t i = 0; i < count_; ++i) {
      if constexpr (kRows) buffer_.push_back(from.number(0, table_->rows - 1));
      else buffer_.push_back(from.element());
    }
    input_->load(from);
  }

 private:
  static constexpr bool kRows = std::is_same_v<Item, int64_t>;

  void restart(std::pair<uint64_t, uint64_t> seeds, int64_t skip) {
    pass_seeds_ = seeds;
    words_.emplace(seeds.first, seeds.second, skip);
  }

  // Items lie in a ring from start_ on. It grows to its limit before it wraps, so that a limit beyond the
  // number of elements costs nothing.
  void fill() {
    if (!ended_ && int64_t(buffer_.size()) < limit_) grow();
    while (!ended_ && count_ < buffer_.size()) {
      Item& place = buffer_[(start_ + count_) % buffer_.size()];
      bool got;
      if constexpr (kRows) got = input_->next_rows(&place, 1) == 1;
      else got = input_->next(&place);
      if (got) ++count_;
      else ended_ = true;
    }
  }
  void grow() {
    // Before the first draw, or behind a load: the ring begins at 0.
    while (!ended_ && int64_t(buffer_.size()) < limit_) {
      const size_t old = buffer_.size();
      if constexpr (kRows) {
        const int64_t more = std::min<int64_t>(limit_ - int64_t(old), 1 << 14);
        buffer_.resize(old + size_t(more));
        const int64_t got = input_->next_rows(buffer_.data() + old, more);
        buffer_.resize(old + size_t(got));
        if (got < more) ended_ = true;
      } else {
        Element element;
        if (input_->next(&element)) buffer_.push_back(std::move(element));
        else ended_ = true;
      }
      count_ += buffer_.size() - old;
    }
  }

  bool draw(Item* out) {
    fill();
    if (count_ == 0) return false;
    const size_t at = (start_ + (*words_)() % count_) % buffer_.size();
    *out = std::move(buffer_[at]);
    if (at != start_) buffer_[at] = std::move(buffer_[start_]);
    start_ = (start_ + 1) % buffer_.size();
    --count_;
    return true;
  }

  const Table* table_;
  const int64_t limit_;
  PassSeeds& seeds_;
  std::unique_ptr<Cursor> input_;
  std::pair<uint64_t, uint64_t> pass_seeds_;
  std::optional<SeededWords> words_;
  std::vector<Item> buffer_;
  size_t start_ = 0, count_ = 0;
  bool ended_ = false;
};

class ShuffleNode final : public PassNode {
 public:
  ShuffleNode(Ref<Node> input, int64_t buffer_size, int64_t seed, int64_t seed2, bool reshuffle)
      : PassNode(std::move(input)), buffer_size_(buffer_size), seeds_(seed, seed2, reshuffle) {}
  const char* name() const override { return "shuffle"; }
  const Table* table() const override { return input_->table(); }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Cursor> cursor() const override {
    if (table()) return std::make_unique<ShuffleCursor<int64_t>>(*input_, buffer_size_, seeds_);
    return std::make_unique<ShuffleCursor<Element>>(*input_, buffer_size_, seeds_);
  }

 private:
  const int64_t buffer_size_;
  mutable PassSeeds seeds_;
};

}  // namespace

Ref<Node> make_shuffle(Ref<Node> input, int64_t buffer_size, int64_t seed, int64_t seed2, bool reshuffle) {
  if (buffer_size < 1)
    fail_invalid("shuffle", "buffer_size must be at least 1: got " + std::to_string(buffer_size));
  return new_node<ShuffleNode>(std::move(input), buffer_size, seed, seed2, reshuffle);
}

}  // namespace rw::data
