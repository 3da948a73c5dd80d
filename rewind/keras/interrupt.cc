#include "rewind/keras/interrupt.h"

#include <atomic>
#include <csignal>
#include <mutex>

namespace rw::keras {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;
std::mutex g_interrupt_mutex;
int g_scopes = 0;
struct sigaction g_before;

void on_interrupt(int signal) {
  if (g_interrupted) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  g_interrupted = 1;
}

}  // namespace

InterruptScope::InterruptScope() {
  const std::lock_guard lock(g_interrupt_mutex);
  if (g_scopes++ > 0) return;
  g_interrupted = 0;
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &g_before);
}

InterruptScope::~InterruptScope() {
  const std::lock_guard lock(g_interrupt_mutex);
  if (--g_scopes > 0) return;
  sigaction(SIGINT, &g_before, nullptr);
  g_interrupted = 0;
}

bool InterruptScope::interrupted() { return g_interrupted != 0; }

}  // namespace rw::keras
