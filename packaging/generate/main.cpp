// generate DIRECTORY EXAMPLE-POLICY: writes the man pages and the completions into DIRECTORY.

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "generate.h"

namespace {

void write(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    if (!(file << text) || !file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!(text << file.rdbuf())) throw std::runtime_error("cannot read " + path);
    return text.str();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: generate DIRECTORY EXAMPLE-POLICY\n");
        return 3;
    }
    try {
        const std::string directory = argv[1];
        write(directory + "/aistor-rdma-check.8", generate::man_program());
        write(directory + "/aistor-rdma-check-policy.5", generate::man_policy(read(argv[2])));
        write(directory + "/aistor-rdma-check.bash", generate::bash_completion());
        write(directory + "/_aistor-rdma-check", generate::zsh_completion());
        write(directory + "/aistor-rdma-check.fish", generate::fish_completion());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "generate: %s\n", error.what());
        return 1;
    }
    return 0;
}
