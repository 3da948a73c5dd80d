// Rows of elementwise ops that differ in nothing but their names.
#pragma once

#include <initializer_list>
#include <string>

#include "rewind/op/table.h"

namespace rw {

struct NamedRow {
  const char* op;
  const char* tag;
};

inline void add_elementwise_rows(OpTable& t, std::initializer_list<NamedRow> names, const char* signature,
                                 ShapeRule shape) {
  for (const NamedRow& n : names) t.add(std::string(n.op) + signature).shape(shape).elementwise().tag(n.tag);
}

}  // namespace rw
