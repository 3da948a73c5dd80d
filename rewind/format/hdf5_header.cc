#include "rewind/format/hdf5_header.h"

#include <deque>

namespace rw::format::hdf5 {
namespace {

struct Block {
  uint64_t address = 0, size = 0;
};

// Headers are small: attributes of 64 KiB each, and what is larger lies elsewhere.
constexpr uint64_t kMaxHeader = uint64_t{64} << 20;

class HeaderReader {
 public:
  HeaderReader(const Image& image, uint64_t address) : image_(image), header_{address, {}} {}

  Header read() {
    const std::string start = image_.read(header_.address, 4, "object header");
    if (start == "OHDR") read_new();
    else read_old();
    return std::move(header_);
  }

 private:
  void note(Block block) {
    visited_.add(image_, block.address, "block of an object header");
    image_.check(block.address, block.size, "block of an object header");
    total_ += block.size;
    if (total_ > kMaxHeader) image_.fail(block.address, "an object header has more than 64 MiB");
  }

  void read_old() {
    const std::string prefix = image_.read(header_.address, 16, "object header");
    Cursor c(image_, prefix, header_.address, "object header");
    c.expect_version(1, 1);
    c.skip(1);
    messages_left_ = c.u16();
    c.skip(4);  // references
    more_.push_back({header_.address + 16, c.u32()});
    while (!more_.empty()) {
      const Block block = more_.front();
      more_.pop_front();
      note(block);
      const std::string bytes = image_.read(block.address, block.size, "object header");
      Cursor messages(image_, bytes, block.address, "object header");
      while (messages_left_ > 0 && messages.left() >= 8) {
        --messages_left_;
        Message m;
        m.type = messages.u16();
        const uint16_t size = messages.u16();
        const uint8_t flags = messages.u8();
        messages.skip(3);
        add(messages, &m, size, flags);
      }
    }
  }

  void read_new() {
    constexpr uint64_t kMost = 4 + 2 + 16 + 4 + 8;
    const std::string prefix =
        image_.read(header_.address, std::min(kMost, image_.size - header_.address), "object header");
    Cursor c(image_, prefix, header_.address, "object header");
    c.expect("OHDR");
    c.expect_version(2, 2);
    const uint8_t flags = c.u8();
    if (flags & 0x20) c.skip(16);  // times
    if (flags & 0x10) c.skip(4);   // when attributes move elsewhere
    const uint64_t size = c.number(1 << (flags & 3));
    ordered_ = (flags & 0x04) != 0;
    const uint64_t front = c.at();
    if (size > kMaxHeader) c.fail("an object header has more than 64 MiB");
    read_block({header_.address, front + size + 4}, front);
    while (!more_.empty()) {
      const Block block = more_.front();
      more_.pop_front();
      if (image_.read(block.address, 4, "block of an object header") != "OCHK")
        image_.fail(block.address, "block of an object header: expected the signature OCHK");
      read_block(block, 4);
    }
  }

  void read_block(Block block, uint64_t front) {
    note(block);
    const std::string bytes = read_summed(image_, block.address, block.size, "object header");
    const std::string_view body = std::string_view(bytes).substr(0, bytes.size() - 4);
    Cursor messages(image_, body, block.address, "object header");
    messages.skip(front);
    const uint64_t least = ordered_ ? 6 : 4;
    while (messages.left() >= least) {  // fewer bytes are a gap
      Message m;
      m.type = messages.u8();
      const uint16_t size = messages.u16();
      const uint8_t flags = messages.u8();
      if (ordered_) messages.skip(2);
      add(messages, &m, size, flags);
    }
  }

  void add(Cursor& from, Message* m, uint16_t size, uint8_t flags) {
    m->shared = (flags & 2) != 0;
    m->address = from.file_address();
    const std::string_view body = from.take(size);
    if (m->type == kContinuation) {
      Cursor c(image_, body, m->address, "continuation of an object header");
      Block block;
      block.address = c.address();
      block.size = c.length();
      more_.push_back(block);
    } else if (m->type != 0) {
      m->body = body;
      header_.messages.push_back(std::move(*m));
    }
  }

  const Image& image_;
  Header header_;
  std::deque<Block> more_;
  Visited visited_;
  uint64_t total_ = 0;
  uint32_t messages_left_ = 0;
  bool ordered_ = false;
};

}  // namespace

const Message* Header::find(uint16_t type) const {
  for (const Message& m : messages)
    if (m.type == type) return &m;
  return nullptr;
}

Header read_header(const Image& image, uint64_t address) { return HeaderReader(image, address).read(); }

Message resolve_shared(const Image& image, Cursor body, uint16_t type) {
  const uint8_t version = body.u8(), kind = body.u8();
  if (version == 1) body.skip(6);
  if (version < 1 || version > 3)
    body.fail("unknown version " + std::to_string(version) + " of a shared message");
  if (version == 3 && kind == 1) image.refuse("messages shared in a heap of the file are not supported");
  const Header header = read_header(image, body.address());
  const Message* m = header.find(type);
  if (!m || m->shared) body.fail("the shared message is not where it should be");
  return *m;
}

}  // namespace rw::format::hdf5
