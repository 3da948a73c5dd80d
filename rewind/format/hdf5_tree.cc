#include "rewind/format/hdf5_tree.h"

#include <bit>
#include <vector>

namespace rw::format::hdf5 {
namespace {

// Bytes that hold numbers up to n.
uint64_t bytes_for(uint64_t n) { return n == 0 ? 1 : uint64_t(std::bit_width(n) - 1) / 8 + 1; }

class Tree {
 public:
  Tree(const Image& image, uint64_t address, const std::function<void(Cursor&)>& f) : image_(image), f_(f) {
    const auto wide = uint64_t(image.length_size), far = uint64_t(image.address_size);
    const std::string block =
        read_summed(image, address, 4 + 2 + 4 + 2 + 2 + 2 + far + 2 + wide + 4, "B-tree");
    Cursor c(image, block, address, "B-tree");
    c.expect("BTHD");
    c.expect_version(0, 0);
    c.skip(1);  // what it holds
    node_size_ = c.u32();
    record_size_ = c.u16();
    const uint64_t depth = c.u16();
    c.skip(2);
    root_ = c.address();
    root_records_ = c.u16();
    c.skip(wide);
    constexpr uint64_t kFrame = 10;  // signature, version, kind, checksum
    if (record_size_ == 0 || node_size_ < kFrame + record_size_ || depth > 16)
      c.fail("sizes that no B-tree has");
    // How many records a node of each height may have, and with all below it.
    uint64_t most = (node_size_ - kFrame) / record_size_;
    count_bytes_ = bytes_for(most);
    levels_.push_back({most, 0});
    uint64_t total = most, total_bytes = 0;
    for (uint64_t height = 1; height <= depth; ++height) {
      const uint64_t pointer = far + count_bytes_ + total_bytes;
      if (node_size_ < kFrame + pointer + record_size_ + pointer) c.fail("sizes that no B-tree has");
      most = (node_size_ - kFrame - pointer) / (record_size_ + pointer);
      levels_.push_back({most, total_bytes});
      if (__builtin_mul_overflow(total, most + 1, &total) || __builtin_add_overflow(total, most, &total))
        c.fail("a B-tree of more records than there are numbers");
      total_bytes = bytes_for(total);
    }
  }

  void walk() {
    if (root_ != kNoAddress && root_records_ > 0) node(root_, root_records_, levels_.size() - 1);
  }

 private:
  struct Level {
    uint64_t most = 0;         // records in a node
    uint64_t total_bytes = 0;  // width of a pointer's count of all records below
  };
  struct Child {
    uint64_t address = 0, records = 0;
  };

  void node(uint64_t address, uint64_t records, size_t height) {
    visited_.add(image_, address, "node of a B-tree");
    const bool leaf = height == 0;
    const uint64_t pointer = uint64_t(image_.address_size) + count_bytes_ + levels_[height].total_bytes;
    if (records > levels_[height].most)
      image_.fail(address, "a node of a B-tree has " + std::to_string(records) + " records, at most " +
                               std::to_string(levels_[height].most) + " fit");
    const uint64_t size = 6 + records * record_size_ + (leaf ? 0 : (records + 1) * pointer) + 4;
    const std::string block = read_summed(image_, address, size, "node of a B-tree");
    Cursor c(image_, block, address, "node of a B-tree");
    c.expect(leaf ? "BTLF" : "BTIN");
    c.expect_version(0, 0);
    c.skip(1);
    Cursor all = c.part(records * record_size_, "record of a B-tree");
    std::vector<Child> children;
    for (uint64_t i = 0; !leaf && i <= records; ++i) {
      Child child;
      child.address = c.address();
      child.records = c.number(int(count_bytes_));
      c.skip(levels_[height].total_bytes);
      children.push_back(child);
    }
    for (uint64_t i = 0; i <= records; ++i) {
      if (!leaf) node(children[i].address, children[i].records, height - 1);
      if (i == records) break;
      Cursor record = all.part(record_size_, "record of a B-tree");
      f_(record);
    }
  }

  const Image& image_;
  const std::function<void(Cursor&)>& f_;
  uint64_t node_size_ = 0, record_size_ = 0, root_ = 0, root_records_ = 0, count_bytes_ = 0;
  std::vector<Level> levels_;
  Visited visited_;
};

}  // namespace

void walk_tree2(const Image& image, uint64_t address, const std::function<void(Cursor& record)>& f) {
  Tree(image, address, f).walk();
}

}  // namespace rw::format::hdf5
