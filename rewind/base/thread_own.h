// A thread's own T, which may be used at any time: made when first asked for, destroyed with the thread, and
// made once more for what is destroyed behind the thread's own objects, as statics are on the main thread.
#pragma once

#include <utility>

namespace rw {

template <class T>
class ThreadOwn {
 public:
  static T& get() {
    if (!object_) [[unlikely]]
      make();
    return *object_;
  }

 private:
  struct Guard {
    ~Guard() {
      gone_ = true;
      delete std::exchange(object_, nullptr);
    }
  };
  [[gnu::noinline]] static void make() {
    object_ = new T();
    if (gone_) return;  // the process ends
    static thread_local Guard guard;
    (void)guard;
  }
  static inline constinit thread_local T* object_ = nullptr;
  static inline constinit thread_local bool gone_ = false;
};

}  // namespace rw
