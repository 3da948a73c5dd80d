#include "rewind/device/device.h"

#include <algorithm>

#include "rewind/base/ascii.h"
#include "rewind/base/error.h"

namespace rw {
namespace {

constexpr std::string_view kTypeNames[kDeviceTypes] = {"CPU", "NULL", "GPU"};

}  // namespace

Device::Device(DeviceType type, int index)
    : type_(type),
      index_(index),
      name_(std::string(kTypeNames[int(type)]) + ":" + std::to_string(index)),
      full_name_("/job:localhost/replica:0/task:0/device:" + name_) {}

std::vector<Device*> list_devices() { return {&cpu_device()}; }

Device& find_device(std::string_view name) {
  std::string wanted = ascii::to_upper(std::string(name));
  if (const size_t at = wanted.rfind("DEVICE:"); at != std::string::npos) wanted = wanted.substr(at + 7);
  if (!wanted.empty() && wanted[0] == '/') wanted = wanted.substr(1);
  if (wanted.find(':') == std::string::npos) wanted += ":0";
  std::string known;
  for (Device* d : list_devices()) {
    if (d->name() == wanted) return *d;
    known += (known.empty() ? "" : ", ") + d->name();
  }
  fail_not_found("device", "no device is called \"" + std::string(name) + "\"; there are: " + known);
}

}  // namespace rw
