// Prints the live node's answers to one kind of question as a snapshot holds them: ask KIND ARGUMENT…

#include <cstdio>

#include "host/answer.h"

int main(int argc, char** argv) {
    using namespace preflight;
    if (argc < 2) return 3;
    const auto host = live_host();
    Recorder recorder(*host);
    const std::string kind = argv[1];
    for (int i = 2; i < argc; ++i) {
        if (kind == "dcb") recorder.dcb(argv[i]);
        else if (kind == "ethtool_pause") recorder.ethtool_pause(argv[i]);
        else return 3;
    }
    std::fputs(recorder.snapshot().c_str(), stdout);
}
