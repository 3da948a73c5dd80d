// The equation of an Einsum, "ab...,bc->a...c", and what it says about shapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rewind/base/shape.h"
#include "rewind/base/small_vector.h"

namespace rw {

// A label is a character, or for the axes under an ellipsis -1, -2, ... counted from the right: ellipses
// align there.
using Labels = SmallVector<int, 6>;

struct EinsumEquation {
  std::vector<std::string> inputs;  // '.' stands for an ellipsis
  std::string output;

  // Takes one "->" and at most one ellipsis a part; throws InvalidArgumentError otherwise.
  static EinsumEquation parse(std::string_view equation);
  std::string to_string() const;
  bool uses(char label) const;
  // A letter that no part uses. Throws InvalidArgumentError when all 52 are taken.
  char fresh_label() const;
};

// The labels of a part's axes for a tensor of this rank. Throws InvalidArgumentError when the rank does not
// fit.
Labels labels_of(std::string_view part, int rank);

// The shape of the result. Unknown ranks and sizes give unknown ones. Throws InvalidArgumentError.
Shape einsum_shape(const EinsumEquation& equation, const std::vector<const Shape*>& inputs);

// The equation without ellipses for inputs of known rank: each axis under one gets a letter of its own, and
// an axis of size 1 that another input stretches is left out of its part.
struct NamedEinsum {
  EinsumEquation equation;
  std::vector<Shape> shapes;           // of the inputs, without the axes that were left out
  std::vector<std::vector<int>> axes;  // the inputs' axes that were not
};
NamedEinsum name_axes(const EinsumEquation& equation, const std::vector<const Shape*>& inputs);

}  // namespace rw
