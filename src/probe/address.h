#pragma once
// Addresses of the two families for calls that take a sockaddr.

#include <sys/socket.h>

#include <string>

namespace preflight::probe {

class SocketAddress {
public:
    /// A numeric address, with its zone if it has one ("fe80::1%eth0"); empty when the text is none.
    SocketAddress(const std::string& address, int port);

    bool empty() const { return size_ == 0; }
    socklen_t size() const { return size_; }
    /// The libraries take a pointer to non-const and change nothing.
    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
    sockaddr* get() const { return const_cast<SocketAddress*>(this)->get(); }

private:
    sockaddr_storage storage_{};
    socklen_t size_ = 0;
};

/// "192.0.2.11", "2001:db8::11"; a v4 address mapped into v6 as v4.
std::string text_of(const sockaddr* address);

}  // namespace preflight::probe
