// A healthy node of which one answer holds what the bytes say: sysfs values, files and lists as no kernel gives them. Any verdict
// will do, but it must be reached.
#include <fstream>
#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "host/answer.h"
#include "preflight/engine.h"

using namespace preflight;

namespace {

class RecordedNode : public Host {
public:
    RecordedNode() {
        const Json snapshot = Json::parse(std::ifstream(TESTS_DIR "/cases/bases/e810-healthy.json"));
        for (const auto& [kind, of_kind] : snapshot["answers"].items())
            for (const auto& [argument, value] : of_kind.items()) {
                answers.emplace(Question{kind, argument}, value.get<Fact<Json>>());
                if (answers[{kind, argument}].has()) questions.push_back({kind, argument});
            }
    }
    std::map<Question, Fact<Json>> answers;
    std::vector<Question> questions;

protected:
    Answer answer(const Question& question) override {
        const auto known = answers.find(question);
        return known == answers.end() ? Answer{Unreadable{"not-captured", question.kind}} : Answer{known->second};
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static RecordedNode node;
    if (size == 0) return 0;
    const Question& question = node.questions[data[0] % node.questions.size()];
    const std::string text(text_of(data + 1, size - 1));
    const Fact<Json> whole = node.answers[question];
    if (whole->is_string()) node.answers[question] = text_to_json(text);
    else if (Json given = Json::parse(text, nullptr, false); !given.is_discarded()) node.answers[question] = given;
    Options options;
    options.from_snapshot = true;
    try {
        to_json(judge(modules(), Facts(node, options)));
    } catch (const InputError&) {
    }
    node.answers[question] = whole;
    return 0;
}
