// Where ops run: the log of device placement.
#include <iostream>

#include "rewind/rewind.h"

int main() {
  rw::debugging::set_log_device_placement(true);
  rw::Tensor b;
  {
    const auto scope = rw::device("CPU:0");
    const rw::Tensor a = rw::constant({{1.0, 2.0}, {3.0, 4.0}});
    b = rw::matmul(a, a);
  }
  rw::debugging::set_log_device_placement(false);
  std::cout << b << "\n";
  for (const rw::PhysicalDevice& d : rw::config::list_physical_devices("CPU"))
    std::cout << "['" << d.name << "']\n";
  std::cout << b.device() << "\n";
}
