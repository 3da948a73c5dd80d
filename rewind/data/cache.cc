// cache: the elements of the first whole pass, kept in memory or in a file.
//
// A file: "RWCACHE1", then for each element "e" and a position's entry of it, then "z" and the number of
// elements. It is written beside its name and renamed when it is whole.
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "rewind/base/errno_text.h"
#include "rewind/base/error.h"
#include "rewind/data/nodes.h"
#include "rewind/data/position.h"

namespace rw::data {
namespace {

struct Store {
  std::mutex mutex;
  std::shared_ptr<const std::vector<Element>> elements;  // once a pass has come to the end
};

class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(const Node& input, Store& store) : input_node_(input), store_(store) {
    const std::lock_guard lock(store.mutex);
    full_ = store.elements;
  }
  bool next(Element* out) override {
    if (!full_) {
      if (!input_) input_ = input_node_.cursor();
      if (input_->next(out)) {
        own_.push_back(*out);
        ++at_;
        return true;
      }
      keep();
      return false;
    }
    if (at_ >= full_->size()) return false;
    *out = (*full_)[at_++];
    return true;
  }
  void save(PositionWriter& to) override {
    to.mark("cache");
    to.number(full_ != nullptr);
    to.number(int64_t(at_));
    const std::vector<Element>& elements = full_ ? *full_ : own_;
    to.number(int64_t(elements.size()));
    for (const Element& e : elements) to.element(e);
    to.number(input_ != nullptr);
    if (input_) input_->save(to);
  }
  void load(PositionReader& from) override {
    from.mark("cache");
    const bool full = from.number(0, 1) != 0;
    const int64_t at = from.number(0, INT64_MAX);
    const int64_t n = from.number(0, INT64_MAX);
    full_.reset();
    own_.clear();
    for (int64_t i = 0; i < n; ++i) own_.push_back(from.element());
    if (at > n) from.fail("its cache is too short");
    at_ = size_t(at);
    if (from.number(0, 1) != 0) {
      input_ = input_node_.cursor();
      input_->load(from);
    }
    if (full) keep();
  }

 private:
  void keep() {
    full_ = std::make_shared<const std::vector<Element>>(std::move(own_));
    own_.clear();
    input_.reset();
    const std::lock_guard lock(store_.mutex);
    if (!store_.elements) store_.elements = full_;
  }
  const Node& input_node_;
  Store& store_;
  std::shared_ptr<const std::vector<Element>> full_;
  std::vector<Element> own_;
  std::unique_ptr<Cursor> input_;
  size_t at_ = 0;
};

constexpr char kMagic[] = "RWCACHE1";

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_not_found("cache", path + " cannot be opened: " + errno_text(errno));
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Element> read_elements(std::string_view bytes, const std::string& path, bool whole) {
  const size_t magic = sizeof(kMagic) - 1;
  if (bytes.substr(0, magic) != kMagic) throw DataLossError("[cache] " + path + " is no cache file: byte 0");
  PositionReader from(bytes.substr(magic), path);
  std::vector<Element> elements;
  try {
    while (whole || from.at() < bytes.size() - magic) {
      const std::string kind = from.text();
      if (kind == "z") {
        if (from.number() != int64_t(elements.size())) from.fail("the number of elements differs");
        from.finish();
        return elements;
      }
      if (kind != "e") from.fail("expected an element");
      elements.push_back(from.element());
    }
  } catch (const InvalidArgumentError& e) {
    throw DataLossError("[cache] " + path + " is damaged near byte " + std::to_string(from.at() + magic) +
                        ": " + e.what());
  }
  return elements;
}

class FileCursor final : public Cursor {
 public:
  FileCursor(const Node& input, const std::string& path) : input_node_(input), path_(path) {}
  ~FileCursor() override {
    if (out_.is_open()) {
      out_.close();
      std::error_code ignored;
      std::filesystem::remove(temporary_, ignored);
    }
  }
  bool next(Element* out) override {
    if (!begun_) begin();
    if (ended_) return false;
    if (!input_) {
      if (at_ >= elements_.size()) return false;
      *out = elements_[at_++];
      return true;
    }
    if (input_->next(out)) {
      append(*out);
      ++at_;
      return true;
    }
    close();
    return false;
  }
  void save(PositionWriter& to) override {
    if (!begun_) begin();
    to.mark("cache");
    to.number(int64_t(at_));
    to.number(ended_);
    to.number(input_ != nullptr);
    if (!input_) return;
    out_.flush();
    to.text(read_whole(temporary_));
    input_->save(to);
  }
  void load(PositionReader& from) override {
    from.mark("cache");
    const int64_t at = from.number(0, INT64_MAX);
    const bool ended = from.number(0, 1) != 0;
    if (from.number(0, 1) != 0) {
      open_for_writing();
      write(std::string_view(from.text()).substr(sizeof(kMagic) - 1));
      input_ = input_node_.cursor();
      input_->load(from);
      begun_ = true;
    } else {
      begin();
      if (input_) from.fail("the cache file " + path_ + " is gone");
    }
    at_ = size_t(at);
    ended_ = ended;
  }

 private:
  void begin() {
    begun_ = true;
    if (std::filesystem::exists(path_)) {
      elements_ = read_elements(read_whole(path_), path_, true);
      return;
    }
    open_for_writing();
    input_ = input_node_.cursor();
  }
  void open_for_writing() {
    static std::atomic<int> next{0};
    temporary_ = path_ + ".partial." + std::to_string(getpid()) + "." + std::to_string(next++);
    out_.open(temporary_, std::ios::binary);
    write(kMagic);
  }
  void write(std::string_view bytes) {
    out_.write(bytes.data(), std::streamsize(bytes.size()));
    if (!out_) fail_precondition("cache", temporary_ + " cannot be written: " + errno_text(errno));
  }
  void append(const Element& element) {
    PositionWriter to;
    to.text("e");
    to.element(element);
    write(to.take());
  }
  void close() {
    PositionWriter to;
    to.text("z");
    to.number(int64_t(at_));
    write(to.take());
    out_.close();
    if (!out_) fail_precondition("cache", temporary_ + " cannot be written: " + errno_text(errno));
    std::filesystem::rename(temporary_, path_);
    input_.reset();
    ended_ = true;
  }

  const Node& input_node_;
  const std::string path_;
  std::string temporary_;
  bool begun_ = false, ended_ = false;
  std::ofstream out_;
  std::unique_ptr<Cursor> input_;  // while the file is written
  std::vector<Element> elements_;  // of the file
  size_t at_ = 0;
};

class CacheNode final : public PassNode {
 public:
  CacheNode(Ref<Node> input, std::string path) : PassNode(std::move(input)), path_(std::move(path)) {}
  const char* name() const override { return "cache"; }
  int64_t cardinality() const override { return input_->cardinality(); }
  std::unique_ptr<Cursor> cursor() const override {
    if (path_.empty()) return std::make_unique<MemoryCursor>(*input_, store_);
    return std::make_unique<FileCursor>(*input_, path_);
  }

 private:
  const std::string path_;
  mutable Store store_;
};

}  // namespace

Ref<Node> make_cache(Ref<Node> input, std::string filename) {
  return new_node<CacheNode>(std::move(input), std::move(filename));
}

}  // namespace rw::data
