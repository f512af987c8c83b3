#pragma once
// What configuration space says about Access Control Services (PCI Express Base Specification; numbers as in Linux 6.12
// include/uapi/linux/pci_regs.h).

#include <optional>

#include "preflight/host.h"

namespace preflight {

/// Bits of the ACS Control register.
inline constexpr unsigned acs_request_redirect = 0x04;     ///< PCI_ACS_RR, lspci: ReqRedir
inline constexpr unsigned acs_completion_redirect = 0x08;  ///< PCI_ACS_CR, lspci: CmpltRedir
inline constexpr unsigned acs_redirect = acs_request_redirect | acs_completion_redirect;

/// The ACS Control register. Absent: the function has no ACS capability, so it redirects nothing. Unreadable: too little of
/// the space could be read ("short", "not-there"), the function does not answer ("no-answer"), or its list of capabilities is broken ("malformed").
Fact<unsigned> acs_control(const Fact<PciConfig>& config);

/// "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-", as lspci prints it.
std::string acs_text(unsigned control);

}  // namespace preflight
