#include "rewind/format/hdf5_links.h"

#include "rewind/format/hdf5_heap.h"
#include "rewind/format/hdf5_tree.h"

namespace rw::format::hdf5 {
namespace {

using Links = std::map<std::string, Link, std::less<>>;

void add(const Cursor& c, std::string name, const Link& link, Links* links) {
  if (name.empty() || name.find('/') != std::string::npos || name == ".")
    c.fail("\"" + name + "\" is no name of a link");
  if (!links->emplace(std::move(name), link).second) c.fail("a name comes twice in a group");
}

// ---- symbol tables ----------------------------------------------------------------------------------------

class SymbolTable {
 public:
  SymbolTable(const Image& image, Cursor message, Links* links) : image_(image), links_(links) {
    tree_ = message.address();
    names_ = read_local_heap(image, message.address(), &names_address_);
  }
  void read() { node(tree_, -1); }

 private:
  void node(uint64_t address, int level) {
    visited_.add(image_, address, "node of a group's tree");
    const auto far = uint64_t(image_.address_size), wide = uint64_t(image_.length_size);
    const uint64_t front = 8 + 2 * far;
    const std::string head = image_.read(address, front, "node of a group's tree");
    Cursor c(image_, head, address, "node of a group's tree");
    c.expect("TREE");
    if (c.u8() != 0) c.fail("expected a tree of names");
    const int height = c.u8();
    if (level >= 0 && height != level) c.fail("expected level " + std::to_string(level));
    const uint64_t children = c.u16();
    const std::string body = image_.read(address + front, children * (far + wide), "node of a group's tree");
    Cursor pairs(image_, body, address + front, "node of a group's tree");
    for (uint64_t i = 0; i < children; ++i) {
      pairs.skip(wide);  // a name below it
      const uint64_t child = pairs.address();
      if (height > 0) node(child, height - 1);
      else leaf(child);
    }
  }

  void leaf(uint64_t address) {
    visited_.add(image_, address, "list of a group's names");
    const auto far = uint64_t(image_.address_size), wide = uint64_t(image_.length_size);
    const std::string head = image_.read(address, 8, "list of a group's names");
    Cursor c(image_, head, address, "list of a group's names");
    c.expect("SNOD");
    c.expect_version(1, 1);
    c.skip(1);
    const uint64_t count = c.u16();
    const std::string body = image_.read(address + 8, count * (wide + far + 24), "list of a group's names");
    Cursor entries(image_, body, address + 8, "list of a group's names");
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t name = entries.length();
      Link link;
      link.header = entries.address();
      if (entries.u32() == 2) link.kind = Link::Kind::kSoft;
      entries.skip(4 + 16);
      if (name >= names_.size()) entries.fail("a name lies outside the group's heap");
      Cursor text(image_, names_, names_address_, "local heap");
      text.skip(name);
      add(entries, text.text(), link, links_);
    }
  }

  const Image& image_;
  Links* links_;
  uint64_t tree_ = 0, names_address_ = 0;
  std::string names_;
  Visited visited_;
};

// ---- link messages ----------------------------------------------------------------------------------------

void read_link(Cursor c, Links* links) {
  c.expect_version(1, 1);
  const uint8_t flags = c.u8();
  const uint8_t kind = flags & 8 ? c.u8() : uint8_t(0);
  if (flags & 4) c.skip(8);   // creation order
  if (flags & 16) c.skip(1);  // character set
  const uint64_t length = c.number(1 << (flags & 3));
  std::string name(c.take(length));
  Link link;
  if (kind == 0) link.header = c.address();
  else link.kind = kind == 1 ? Link::Kind::kSoft : Link::Kind::kExternal;
  add(c, std::move(name), link, links);
}

void read_dense(const Image& image, Cursor info, Links* links) {
  info.expect_version(0, 0);
  const uint8_t flags = info.u8();
  if (flags & 1) info.skip(8);
  const uint64_t heap_address = info.address(), tree = info.address();
  if (heap_address == kNoAddress || tree == kNoAddress) return;
  FractalHeap heap(image, heap_address);
  walk_tree2(image, tree, [&](Cursor& record) {
    record.skip(4);  // hash of the name
    const FractalHeap::Object object = heap.read(record);
    read_link(Cursor(image, object.bytes, object.address, "link"), links);
  });
}

}  // namespace

bool is_group(const Header& header) {
  return header.find(kSymbolTable) || header.find(kLinkInfo) || header.find(kLink);
}

Links read_links(const Image& image, const Header& header) {
  Links links;
  for (const Message& m : header.messages) {
    if (m.type == kSymbolTable) SymbolTable(image, m.cursor(image, "symbol table"), &links).read();
    else if (m.type == kLink) read_link(m.cursor(image, "link"), &links);
    else if (m.type == kLinkInfo) read_dense(image, m.cursor(image, "links of a group"), &links);
  }
  return links;
}

}  // namespace rw::format::hdf5
