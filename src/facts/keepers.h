#pragma once
// What could re-apply DCB settings at boot: units, scripts, udev rules, NetworkManager keyfiles, lldpad. Whether a unit ran in
// this boot is read from /run/systemd/units/invocation:UNIT, a link that the service manager makes when a unit starts
// and removes when it is no longer active (systemd src/core/unit.c), so a one-shot must have RemainAfterExit=yes to show.

#include <string>
#include <utility>
#include <vector>

#include "preflight/host.h"

namespace preflight {

struct Keeper {
    std::string kind;  ///< "systemd unit", "udev rule", "script", "NetworkManager profile", "lldpad"
    std::string path;
    std::string unit;                    ///< systemd only: the unit, with the instance of a template
    std::vector<std::string> lines;      ///< that speak of DCB, of the file and of the script it starts
    bool enabled = false;                ///< something wants the unit at boot
    bool stays_active = false;           ///< it shows after it ran
    Fact<bool> active;                   ///< of a unit: it is active now

    /// The file names this netdev; a template names it by its instance.
    bool names(const std::string& netdev) const;
};

struct Keepers {
    std::vector<Keeper> list;
    std::vector<std::pair<std::string, Unreadable>> unreadable;  ///< places that could not be read

    static Keepers read(Host& host);
    std::vector<const Keeper*> of(const std::string& netdev) const;
};

}  // namespace preflight
