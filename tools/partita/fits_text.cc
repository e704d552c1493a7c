// Writes margins.
// SPDX-License-Identifier: Apache-2.0

#include "tools/partita/fits_text.h"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "placement/machine/byte_size.h"
#include "tools/partita/json_text.h"

namespace partita {
namespace {

using Json = nlohmann::ordered_json;

std::string DeviceText(const DeviceFit& device) {
  if (!device.needed.has_value()) {
    return absl::StrFormat("  %-8s not known of %s\n", device.device,
                           RoundedByteSize(device.usable));
  }
  return absl::StrFormat("  %-8s %s of %s; %s (%.1f %%) %s\n", device.device,
                         RoundedByteSize(*device.needed, device.usable),
                         RoundedByteSize(device.usable, *device.needed),
                         RoundedByteSize(std::abs(device.margin())),
                         std::abs(device.margin_percent()),
                         device.fits() ? "free" : "missing");
}

Json DeviceJson(const DeviceFit& device) {
  if (!device.needed.has_value()) {
    return {{"device", device.device},
            {"needed_bytes", nullptr},
            {"usable_bytes", device.usable}};
  }
  return {{"device", device.device},
          {"needed_bytes", *device.needed},
          {"usable_bytes", device.usable},
          {"margin_bytes", device.margin()},
          {"margin_percent", device.margin_percent()},
          {"fits", device.fits()}};
}

}  // namespace

std::string FitText(const PlanFit& fit) {
  std::string text = absl::StrCat("machine ", fit.machine,
                                  fit.fits() ? ": fits\n" : ": does not fit\n");
  for (const DeviceFit& device : fit.devices) text += DeviceText(device);
  for (const std::string& fault : fit.faults) {
    absl::StrAppend(&text, fault, "\n");
  }
  return text;
}

std::string FitJson(const PlanFit& fit) {
  Json json = {{"machine", fit.machine},
               {"fits", fit.fits()},
               {"devices", Json::array()},
               {"faults", fit.faults}};
  for (const DeviceFit& device : fit.devices) {
    json["devices"].push_back(DeviceJson(device));
  }
  return JsonText(json);
}

}  // namespace partita
