// map and filter: functions of the user's on elements, on the thread that asks or on several.
#include <condition_variable>
#include <deque>
#include <thread>

#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"
#include "rewind/device/serial_scope.h"

namespace rw::data {
namespace {

class MapCursor final : public Cursor {
 public:
  MapCursor(std::unique_ptr<Cursor> input, const ElementFn& f) : input_(std::move(input)), f_(f) {}
  bool next(Element* out) override {
    Element in;
    if (!input_->next(&in)) return false;
    f_(in, out);
    return true;
  }
  void save(PositionWriter& to) override {
    to.mark("map");
    input_->save(to);
  }
  void load(PositionReader& from) override {
    from.mark("map");
    input_->load(from);
  }

 private:
  std::unique_ptr<Cursor> input_;
  const ElementFn& f_;
};

// Workers take elements from the input in turn (one at a time pulls) and give results in the same order, or
// as they get ready. An error takes its element's place.
class ParallelMapCursor final : public Cursor {
 public:
  ParallelMapCursor(std::unique_ptr<Cursor> input, const ElementFn& f, int64_t workers, bool in_order)
      : input_(std::move(input)), f_(f), workers_(workers), in_order_(in_order) {}
  ~ParallelMapCursor() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  bool next(Element* out) override {
    std::unique_lock lock(mutex_);
    while (int64_t(threads_.size()) < workers_) threads_.emplace_back([this] { work(); });
    std::shared_ptr<Slot> slot;
    changed_.wait(lock, [&] {
      slot = ready();
      return slot || (ended_ && slots_.empty() && pulling_ == 0);
    });
    if (!slot) return false;
    changed_.notify_all();
    lock.unlock();
    if (slot->error) std::rethrow_exception(slot->error);
    *out = std::move(slot->result);
    return true;
  }

  void save(PositionWriter& to) override {
    std::unique_lock lock(mutex_);
    pause_ = true;
    changed_.wait(lock, [&] { return busy_ == 0 && pulling_ == 0; });
    to.mark("map");
    // Errors that nobody has seen yet come again: their elements are kept as they went in.
    to.number(ended_);
    to.number(int64_t(slots_.size()));
    for (const auto& slot : slots_) {
      to.number(slot->error != nullptr);
      to.element(slot->error ? slot->input : slot->result);
    }
    input_->save(to);  // also at its end: shuffles below it tell how many passes there were
    pause_ = false;
    changed_.notify_all();
  }
  void load(PositionReader& from) override {
    from.mark("map");
    ended_ = from.number(0, 1) != 0;
    const int64_t n = from.number(0, INT64_MAX);
    for (int64_t i = 0; i < n; ++i) {
      auto slot = std::make_shared<Slot>();
      const bool failed = from.number(0, 1) != 0;
      (failed ? slot->input : slot->result) = from.element();
      if (failed) run(*slot);
      slot->done = true;
      slots_.push_back(std::move(slot));
    }
    input_->load(from);
  }

 private:
  struct Slot {
    Element input, result;
    std::exception_ptr error;
    bool done = false;
  };

  // Requires the lock. Takes the slot whose turn it is.
  std::shared_ptr<Slot> ready() {
    for (auto it = slots_.begin(); it != slots_.end(); ++it) {
      if ((*it)->done) {
        std::shared_ptr<Slot> slot = std::move(*it);
        slots_.erase(it);
        return slot;
      }
      if (in_order_) return {};
    }
    return {};
  }

  void run(Slot& slot) {
    try {
      f_(slot.input, &slot.result);
    } catch (...) { slot.error = std::current_exception(); }
  }

  void work() {
    const SerialScope serial;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] {
        return stop_ || (!pause_ && !ended_ && pulling_ == 0 && int64_t(slots_.size()) < 2 * workers_);
      });
      if (stop_) return;
      auto slot = std::make_shared<Slot>();
      pulling_ = 1;
      lock.unlock();
      bool got = false;
      try {
        got = input_->next(&slot->input);
      } catch (...) {
        slot->error = std::current_exception();
        slot->done = got = true;
      }
      lock.lock();
      pulling_ = 0;
      if (!got) ended_ = true;
      else slots_.push_back(slot);
      changed_.notify_all();
      if (!got || slot->done) continue;
      ++busy_;
      lock.unlock();
      run(*slot);
      lock.lock();
      slot->done = true;
      --busy_;
      changed_.notify_all();
    }
  }

  std::unique_ptr<Cursor> input_;  // used by who set pulling_
  const ElementFn& f_;
  const int64_t workers_;
  const bool in_order_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Slot>> slots_;
  bool ended_ = false, stop_ = false, pause_ = false;
  int pulling_ = 0, busy_ = 0;
  std::vector<std::thread> threads_;
};

class MapNode final : public PassNode {
 public:
  MapNode(Ref<Node> input, ElementFn f, int64_t workers, bool deterministic)
      : PassNode(std::move(input)), f_(std::move(f)), workers_(workers), deterministic_(deterministic) {}
  const char* name() const override { return "map"; }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Cursor> cursor() const override {
    if (workers_ == 0) return std::make_unique<MapCursor>(input_->cursor(), f_);
    return std::make_unique<ParallelMapCursor>(input_->cursor(), f_, workers_, deterministic_);
  }

 protected:
  Specs find_specs() const override {
    return specs_through(f_, input_->specs(), [&](Element* out) {
      Element in;
      if (!input_->cursor()->next(&in)) return false;
      f_(in, out);
      return true;
    });
  }

 private:
  const ElementFn f_;
  const int64_t workers_;
  const bool deterministic_;
};

class FilterNode final : public PassNode {
 public:
  FilterNode(Ref<Node> input, ElementFn predicate)
      : PassNode(std::move(input)), predicate_(std::move(predicate)) {}
  const char* name() const override { return "filter"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<Cursor> cursor() const override {
    struct Pass final : Cursor {
      Pass(std::unique_ptr<Cursor> c, const ElementFn& f) : input(std::move(c)), predicate(f) {}
      bool next(Element* out) override {
        Element wanted;
        while (input->next(out)) {
          predicate(*out, &wanted);
          if (wanted[0].dtype() != DType::kBool || wanted[0].size() != 1)
            fail_invalid("filter", "the predicate must return one bool: got " +
                                       wanted[0].shape().to_string() + " " +
                                       std::string(name_of(wanted[0].dtype())));
          if (*wanted[0].data<bool>().data()) return true;
        }
        return false;
      }
      void save(PositionWriter& to) override {
        to.mark("filter");
        input->save(to);
      }
      void load(PositionReader& from) override {
        from.mark("filter");
        input->load(from);
      }
      std::unique_ptr<Cursor> input;
      const ElementFn& predicate;
    };
    return std::make_unique<Pass>(input_->cursor(), predicate_);
  }

 private:
  const ElementFn predicate_;
};

}  // namespace

Ref<Node> make_map(Ref<Node> input, ElementFn f, int64_t num_parallel_calls, bool deterministic) {
  if (num_parallel_calls < 0 || num_parallel_calls > 1024)
    fail_invalid("map", "num_parallel_calls must be in [0, 1024]: got " + std::to_string(num_parallel_calls));
  return new_node<MapNode>(std::move(input), std::move(f), num_parallel_calls, deterministic);
}
Ref<Node> make_filter(Ref<Node> input, ElementFn predicate) {
  return new_node<FilterNode>(std::move(input), std::move(predicate));
}

}  // namespace rw::data
