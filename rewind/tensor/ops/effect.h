// Printing, assertions, callbacks.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "rewind/tensor/operand.h"
#include "rewind/tensor/variable.h"

namespace rw {

struct PrintOptions {
  std::string output_stream = "stderr";  // or "stdout", "file:///path"
  int summarize = 3;
  std::string sep = " ";
  std::string end = "\n";
};

// One thing to print: text as it is, or a tensor.
class PrintItem {
 public:
  PrintItem(const char* text) : text_(text) {}                        // NOLINT: items are written as they are
  PrintItem(std::string text) : text_(std::move(text)) {}             // NOLINT
  PrintItem(Tensor tensor) : tensor_(std::move(tensor)) {}            // NOLINT
  PrintItem(const Variable& variable) : tensor_(variable.value()) {}  // NOLINT
  template <class T>
    requires std::is_arithmetic_v<T>
  PrintItem(T number) : tensor_(constant(number)) {}        // NOLINT
  PrintItem(bool flag) : text_(flag ? "True" : "False") {}  // NOLINT
  const std::string& text() const { return text_; }
  const Tensor& tensor() const { return tensor_; }  // undefined: it is text

 private:
  std::string text_;
  Tensor tensor_;
};

void print_items(const std::vector<PrintItem>& items, const PrintOptions& options);
// rw::print("step", step, ": loss", loss): runs each time, also in a compiled function. To stderr, as
// tf.print.
template <class... A>
void print(const A&... items) {
  print_items({PrintItem(items)...}, {});
}
template <class... A>
void print(const PrintOptions& options, const A&... items) {
  print_items({PrintItem(items)...}, options);
}

// A function of the host program as an op: f runs on the values each time the op does, as plain C++ that no
// tape hears. Gradients flow to the inputs: f runs again for them, under a tape of its own, so what it
// computes of its inputs it must compute with the library's ops; variables that it reads inside get none.
// Graphs keep f alive; a GraphDef knows it by a token that is good in this process.
std::vector<Tensor> host_function(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& f,
                                  const std::vector<Tensor>& inputs, const std::vector<DType>& output_types);

namespace debugging {

// Each throws InvalidArgumentError with the values when the condition does not hold.
void Assert(const Operand& condition, const MixedOperands& data, int summarize = 3);
void assert_equal(const Operand& x, const Operand& y, const std::string& message = "");
void assert_none_equal(const Operand& x, const Operand& y, const std::string& message = "");
void assert_less(const Operand& x, const Operand& y, const std::string& message = "");
void assert_less_equal(const Operand& x, const Operand& y, const std::string& message = "");
void assert_greater(const Operand& x, const Operand& y, const std::string& message = "");
void assert_greater_equal(const Operand& x, const Operand& y, const std::string& message = "");
void assert_near(const Operand& x, const Operand& y, double rtol = -1, double atol = -1,
                 const std::string& message = "");
void assert_positive(const Operand& x, const std::string& message = "");
void assert_negative(const Operand& x, const std::string& message = "");
void assert_non_negative(const Operand& x, const std::string& message = "");
void assert_non_positive(const Operand& x, const std::string& message = "");
void assert_rank(const Operand& x, int rank, const std::string& message = "");
void assert_rank_at_least(const Operand& x, int rank, const std::string& message = "");
void assert_rank_in(const Operand& x, const std::vector<int>& ranks, const std::string& message = "");
void assert_scalar(const Operand& x, const std::string& message = "");
void assert_type(const Operand& x, DType dtype, const std::string& message = "");
void assert_integer(const Operand& x, const std::string& message = "");
Tensor assert_all_finite(const Operand& x, const std::string& message);
Tensor check_numerics(const Operand& x, const std::string& message);

}  // namespace debugging
}  // namespace rw
