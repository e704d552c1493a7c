// What a profile is of, and how measurements are merged and used.
// SPDX-License-Identifier: Apache-2.0

#include "placement/machine/profile.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/status_macros.h"
#include "placement/machine/link_table.h"
#include "placement/machine/machine.h"

namespace partita {
namespace {

// More steps than this have no more weight, so that a machine that changes is
// followed.
constexpr int64_t kMostWeight = 1000;

std::string Described(const DeviceTraits& device) {
  return absl::StrCat(DeviceKindName(device.kind), " ", device.isa, " of ",
                      device.threads, " threads");
}

std::string Described(const ProfileHost& host) {
  return absl::StrCat(host.cpu, " (", host.isa, ", ", host.threads,
                      " threads)");
}

bool SameExceptRates(const DeviceTraits& a, const DeviceTraits& b) {
  return a.kind == b.kind && a.isa == b.isa && a.threads == b.threads;
}

absl::Status OfAnotherMachine(absl::string_view source, absl::string_view found,
                              absl::string_view expected,
                              absl::string_view machine) {
  return absl::FailedPreconditionError(absl::StrCat(
      source, ": found ", found, "; expected ", expected, " of machine ",
      machine,
      "; measure again with `partita profile` and this machine file into a new "
      "file, or name no profile in it"));
}

absl::Status CheckDevice(const DeviceTraits& device, const Machine& machine,
                         absl::string_view source) {
  const MachineDevice* alike = nullptr;
  for (const MachineDevice& own : machine.devices) {
    if (SameButName(own.traits, device)) return absl::OkStatus();
    if (SameExceptRates(own.traits, device)) alike = &own;
  }
  if (alike != nullptr) {
    return OfAnotherMachine(
        source,
        absl::StrCat("measurements of a ", Described(device),
                     " with other peak_flops, memory_bandwidth or "
                     "launch_seconds"),
        absl::StrCat("the figures of ", alike->traits.name), machine.name);
  }
  return OfAnotherMachine(
      source, absl::StrCat("measurements of a ", Described(device)),
      absl::StrCat("a device like ", machine.devices[0].traits.name, ", a ",
                   Described(machine.devices[0].traits), ", or another"),
      machine.name);
}

SecondsInSteps Averaged(const SecondsInSteps& old, const SecondsInSteps& add) {
  const double before = static_cast<double>(std::min(old.steps, kMostWeight));
  const double after = static_cast<double>(std::min(add.steps, kMostWeight));
  return {(old.seconds * before + add.seconds * after) / (before + after),
          std::min(old.steps + add.steps, kMostWeight)};
}

void MergeNode(const MeasuredNode& fresh, MeasuredNode& known) {
  const std::optional<SecondsInSteps> before = known.in_steps;
  MeasuredNode merged = fresh;
  if (!fresh.warm.has_value()) merged.warm = known.warm;
  if (!fresh.cold.has_value()) merged.cold = known.cold;
  if (!fresh.in_steps.has_value()) {
    merged.in_steps = before;
  } else if (before.has_value()) {
    merged.in_steps = Averaged(*before, *fresh.in_steps);
  }
  known = std::move(merged);
}

void DropOtherVersions(const Profile& fresh, Profile& profile) {
  absl::flat_hash_map<absl::string_view, absl::string_view> versions;
  for (const MeasuredNode& node : fresh.nodes) {
    versions.emplace(LibraryOf(node.version), node.version);
  }
  std::erase_if(profile.nodes, [&](const MeasuredNode& node) {
    const auto now = versions.find(LibraryOf(node.version));
    return now != versions.end() && now->second != node.version;
  });
}

// What is stated of `fresh`, else of `known`.
LinkCollectives Joined(const LinkCollectives& fresh,
                       const LinkCollectives& known) {
  return {.gather = fresh.gather ? fresh.gather : known.gather,
          .reduce = fresh.reduce ? fresh.reduce : known.reduce};
}

void MergeLink(const MeasuredLink& fresh, MeasuredLink& known) {
  const LinkCollectives collectives =
      Joined(fresh.collectives, known.collectives);
  known = fresh;
  known.collectives = collectives;
}

void MergeLinks(const Profile& fresh, Profile& profile) {
  std::map<LinkTable::Ends, MeasuredLink> links;
  for (const MeasuredLink& link : profile.links) links[link.ends()] = link;
  for (const MeasuredLink& link : fresh.links) {
    const auto [known, is_new] = links.emplace(link.ends(), link);
    if (!is_new) MergeLink(link, known->second);
  }
  std::vector<MeasuredLink> merged;
  for (auto& [ends, link] : links) merged.push_back(std::move(link));
  profile.links = std::move(merged);
}

}  // namespace

absl::string_view LibraryOf(absl::string_view version) {
  const size_t space = version.find(' ');
  if (space == version.npos || space + 1 == version.size()) return version;
  const absl::string_view number = version.substr(space + 1);
  const bool ends_with_number =
      absl::ascii_isdigit(number[0]) && !absl::StrContains(number, ' ');
  return ends_with_number ? version.substr(0, space) : version;
}

double MeasuredNode::seconds() const {
  if (in_steps.has_value()) return in_steps->seconds;
  if (warm.has_value() && cold.has_value()) return std::sqrt(*warm * *cold);
  return warm.has_value() ? *warm : cold.value_or(roofline);
}

LinkTable::Ends MeasuredLink::ends() const {
  return LinkTable::InOrder(from, to);
}

absl::Status CheckProfileFits(const Profile& profile, const Machine& machine,
                              absl::string_view source) {
  for (const DeviceTraits& device : profile.devices) {
    PARTITA_RETURN_IF_ERROR(CheckDevice(device, machine, source));
  }
  const LinkTable links(machine);
  for (const MeasuredLink& link : profile.links) {
    if (links.Find(link.from, link.to) != nullptr) continue;
    return OfAnotherMachine(
        source, absl::StrCat("a link from ", link.from, " to ", link.to),
        "one of the links", machine.name);
  }
  return absl::OkStatus();
}

absl::Status CheckMeasuredHere(const Profile& profile, const ProfileHost& host,
                               absl::string_view source) {
  if (profile.host == host) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      source, ": found measurements of another host, ", Described(profile.host),
      "; expected those of this one, ", Described(host),
      "; name another file, or remove this one to measure again"));
}

absl::Status UseProfile(Profile profile, absl::string_view source,
                        Machine& machine) {
  PARTITA_RETURN_IF_ERROR(CheckProfileFits(profile, machine, source));
  std::string hash = ProfileHash(profile);
  if (!machine.profile.hash.empty() && machine.profile.hash != hash) {
    return absl::FailedPreconditionError(absl::StrCat(
        source, ": found a profile of hash ", hash, "; expected ",
        machine.profile.hash, ", the profile_hash of machine ", machine.name,
        "; restore that profile, or remove profile_hash to use this one"));
  }
  absl::flat_hash_map<LinkTable::Ends, const MeasuredLink*> links;
  for (const MeasuredLink& link : profile.links) links[link.ends()] = &link;
  for (Link& link : machine.links) {
    const auto measured = links.find(LinkTable::InOrder(link.from, link.to));
    if (measured == links.end()) continue;
    link.bandwidth = measured->second->bandwidth;
    link.latency = measured->second->latency;
    link.collectives = Joined(measured->second->collectives, link.collectives);
  }
  if (machine.host.cores > 0) {
    machine.host.wake_seconds =
        profile.wake_seconds.value_or(machine.host.wake_seconds);
    if (profile.copies.has_value()) {
      machine.host.copy_latency = profile.copies->latency;
      machine.host.copy_bandwidth = profile.copies->bandwidth;
    }
  }
  machine.profile.hash = std::move(hash);
  machine.profile.measured =
      std::make_shared<const Profile>(std::move(profile));
  return absl::OkStatus();
}

void MergeProfile(const Profile& fresh, Profile& profile) {
  DropOtherVersions(fresh, profile);
  for (const DeviceTraits& device : fresh.devices) {
    const auto same = [&](const DeviceTraits& known) {
      return SameButName(known, device);
    };
    if (!absl::c_any_of(profile.devices, same)) {
      profile.devices.push_back(device);
    }
  }
  absl::flat_hash_map<std::string, size_t> known;
  for (size_t i = 0; i < profile.nodes.size(); ++i) {
    known.emplace(profile.nodes[i].signature, i);
  }
  for (const MeasuredNode& node : fresh.nodes) {
    const auto [place, is_new] =
        known.emplace(node.signature, profile.nodes.size());
    if (is_new) {
      profile.nodes.push_back(node);
    } else {
      MergeNode(node, profile.nodes[place->second]);
    }
  }
  absl::c_sort(profile.nodes, [](const MeasuredNode& a, const MeasuredNode& b) {
    return a.signature < b.signature;
  });
  MergeLinks(fresh, profile);
  if (fresh.wake_seconds.has_value()) profile.wake_seconds = fresh.wake_seconds;
  if (fresh.copies.has_value()) profile.copies = fresh.copies;
  if (fresh.cache_bytes.has_value()) profile.cache_bytes = fresh.cache_bytes;
}

}  // namespace partita
