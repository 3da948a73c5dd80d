// What the configs of optimizers share; for the library's own files.
#pragma once

#include "rewind/keras/registry.h"

namespace rw::keras {

// The options that every optimizer has. They are written from the optimizer as it is: its rate may have been
// changed since it was made.
template <class O>
void read_common_options(ConfigFields& f, O& o) {
  f("name", o.name);
  if (const Config* rate = f.take("learning_rate"); rate && !rate->is_null())
    f.read("learning_rate", [&] {
      double number = 0;
      if (rate->members()) o.learning_rate = LearningRate(schedule_from_config(*rate));
      else from_config(*rate, &number), o.learning_rate = LearningRate(number);
    });
  f("weight_decay", o.weight_decay);
  f("clipnorm", o.clipnorm);
  f("global_clipnorm", o.global_clipnorm);
  f("clipvalue", o.clipvalue);
  f("use_ema", o.use_ema);
  f("ema_momentum", o.ema_momentum);
  f("ema_overwrite_frequency", o.ema_overwrite_frequency);
  f("loss_scale_factor", o.loss_scale_factor);
  f("gradient_accumulation_steps", o.gradient_accumulation_steps);
  // Of files of Keras 2.
  f.ignore("decay");
  f.ignore("jit_compile");
  f.ignore("is_legacy_optimizer");
}

void add_loss_scale_class(ClassRegistry& r);

}  // namespace rw::keras
