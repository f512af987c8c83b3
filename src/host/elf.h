#pragma once
// Pure readers of program files and of ld.so.cache. They read nothing outside what they are given and answer Unreadable
// "malformed" (or "not-elf") with the place that is broken.

#include <functional>
#include <span>
#include <string>

#include "preflight/elf.h"

namespace preflight::elf {

using Bytes = std::span<const std::uint8_t>;

/// Random access to a file: fills `into` from `offset` and returns how many bytes there were.
struct Source {
    std::uint64_t size = 0;
    std::function<std::size_t(std::uint64_t offset, std::span<std::uint8_t> into)> read;
};
Source memory(Bytes bytes);

/// `path` stands in the causes.
Fact<Elf> parse(const Source& file, const std::string& path);

/// The entries of an ld.so.cache for a library name, in the order in which the loader tries them.
Fact<std::vector<CachedLibrary>> cached(Bytes cache, const std::string& name, const std::string& path);

}  // namespace preflight::elf
