// Functions of the host program that ops call: EagerPyFunc finds one by its token, as long as somebody holds
// the entry. Graphs do, by the attributes of their nodes.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "rewind/runtime/eager.h"

namespace rw {

using HostFunction = std::function<ValueList(std::span<const Value* const>)>;

struct HostEntry {
  HostEntry(HostFunction run, std::shared_ptr<const void> source);
  ~HostEntry();
  HostEntry(const HostEntry&) = delete;
  HostEntry& operator=(const HostEntry&) = delete;

  const std::string token;
  const HostFunction run;
  const std::shared_ptr<const void> source;  // what `run` calls, for the room that made it
};

// Findable from now on.
std::shared_ptr<const HostEntry> add_host_function(HostFunction run, std::shared_ptr<const void> source);
// Throws NotFoundError. Any thread.
std::shared_ptr<const HostEntry> find_host_function(const std::string& token, std::string_view tag);

void register_host_function_kernel();

}  // namespace rw
