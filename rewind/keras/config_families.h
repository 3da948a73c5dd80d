// The one list of families whose classes configs can name. Each has add_<family>_classes(registry) in the
// file of its classes.
#pragma once

#define RW_KERAS_CONFIG_FAMILIES(X) \
  X(activation)                     \
  X(initializer)                    \
  X(regularizer)                    \
  X(constraint)                     \
  X(activation_layer)               \
  X(attention)                      \
  X(category)                       \
  X(conv)                           \
  X(dense)                          \
  X(dropout)                        \
  X(embedding)                      \
  X(input_layer)                    \
  X(lookup)                         \
  X(merging)                        \
  X(normalization)                  \
  X(pooling)                        \
  X(preprocessing)                  \
  X(reshaping)                      \
  X(rnn)                            \
  X(text)                           \
  X(tfsm)                           \
  X(wrapper)                        \
  X(operation)                      \
  X(model)                          \
  X(loss)                           \
  X(mean_metric)                    \
  X(confusion_metric)               \
  X(overlap_metric)                 \
  X(optimizer)                      \
  X(schedule)

namespace rw::keras {

struct ClassRegistry;
#define RW_KERAS_DECLARE(family) void add_##family##_classes(ClassRegistry& r);
RW_KERAS_CONFIG_FAMILIES(RW_KERAS_DECLARE)
#undef RW_KERAS_DECLARE

}  // namespace rw::keras
