// prefetch: a thread of its own makes elements ahead. It starts with the first next() and stops with the
// pass.
#include <condition_variable>
#include <deque>
#include <exception>
#include <thread>

#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/device/serial_scope.h"

namespace rw::data {
namespace {

class PrefetchCursor final : public Cursor {
 public:
  PrefetchCursor(std::unique_ptr<Cursor> input, size_t limit) : input_(std::move(input)), limit_(limit) {}
  ~PrefetchCursor() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  bool next(Element* out) override {
    std::unique_lock lock(mutex_);
    if (!thread_.joinable() && !ended_) thread_ = std::thread([this] { work(); });
    changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
    if (ready_.empty()) return false;
    Item item = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    if (item.error) std::rethrow_exception(item.error);
    *out = std::move(item.element);
    return true;
  }

  void save(PositionWriter& to) override {
    std::unique_lock lock(mutex_);
    pause_ = true;
    changed_.wait(lock, [&] { return !busy_; });
    to.mark("prefetch");
    to.number(ended_);
    to.number(int64_t(ready_.size()));
    for (const Item& item : ready_) save(item, to);
    input_->save(to);  // also at its end: shuffles below it tell how many passes there were
    pause_ = false;
    changed_.notify_all();
  }
  void load(PositionReader& from) override {
    from.mark("prefetch");
    ended_ = from.number(0, 1) != 0;
    const int64_t n = from.number(0, INT64_MAX);
    for (int64_t i = 0; i < n; ++i) ready_.push_back(load_item(from));
    input_->load(from);
  }

 private:
  struct Item {
    Element element;
    std::exception_ptr error;
  };

  // An error that nobody has seen yet is kept as its code and text.
  static void save(const Item& item, PositionWriter& to) {
    to.number(item.error != nullptr);
    if (!item.error) return to.element(item.element);
    int64_t code = int64_t(ErrorCode::kUnknown);
    std::string text;
    try {
      std::rethrow_exception(item.error);
    } catch (const Error& e) {
      code = int64_t(e.code());
      text = e.what();
    } catch (const std::exception& e) { text = e.what(); } catch (...) {
      text = "an exception of the program's own";
    }
    to.number(code);
    to.text(text);
  }
  static Item load_item(PositionReader& from) {
    if (from.number(0, 1) == 0) return {from.element(), nullptr};
    const auto code = ErrorCode(from.number(1, int64_t(ErrorCode::kDataLoss)));
    const std::string text = from.text();
    switch (code) {
      case ErrorCode::kInvalidArgument: return {{}, std::make_exception_ptr(InvalidArgumentError(text))};
      case ErrorCode::kNotFound: return {{}, std::make_exception_ptr(NotFoundError(text))};
      case ErrorCode::kDataLoss: return {{}, std::make_exception_ptr(DataLossError(text))};
      default: return {{}, std::make_exception_ptr(Error(code, text))};
    }
  }

  void work() {
    const SerialScope serial;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || (!pause_ && ready_.size() < limit_); });
      if (stop_) return;
      busy_ = true;
      lock.unlock();
      Item item;
      bool got = true;
      try {
        got = input_->next(&item.element);
      } catch (...) { item.error = std::current_exception(); }
      lock.lock();
      busy_ = false;
      if (got) ready_.push_back(std::move(item));
      ended_ |= !got;
      changed_.notify_all();
      if (ended_) return;
    }
  }

  std::unique_ptr<Cursor> input_;  // used by the thread while busy_
  const size_t limit_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Item> ready_;
  bool ended_ = false, stop_ = false, pause_ = false, busy_ = false;
  std::thread thread_;
};

class PrefetchNode final : public PassNode {
 public:
  PrefetchNode(Ref<Node> input, int64_t limit) : PassNode(std::move(input)), limit_(limit) {}
  const char* name() const override { return "prefetch"; }
  int64_t cardinality() const override { return input_->cardinality(); }
  const Table* table() const override { return input_->table(); }
  bool only_copies() const override { return input_->only_copies(); }
  std::unique_ptr<Cursor> cursor() const override {
    if (limit_ == 0 || only_copies()) return input_->cursor();
    return std::make_unique<PrefetchCursor>(input_->cursor(), size_t(limit_));
  }

 private:
  const int64_t limit_;
};

}  // namespace

Ref<Node> make_prefetch(Ref<Node> input, int64_t buffer_size) {
  constexpr int64_t kEnough = 4;
  if (buffer_size < kAutotune)
    fail_invalid("prefetch", "buffer_size must not be negative: got " + std::to_string(buffer_size));
  return new_node<PrefetchNode>(std::move(input), buffer_size == kAutotune ? kEnough : buffer_size);
}

}  // namespace rw::data
