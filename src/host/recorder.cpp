#include <map>

#include "host/answer.h"
#include "version.h"

namespace preflight {

struct Recorder::Memory {
    std::map<Question, Answer> answers;
    std::size_t asked = 0;
};

Recorder::Recorder(Host& inner) : inner_(inner), memory_(std::make_unique<Memory>()) {}
Recorder::~Recorder() = default;

Answer Recorder::answer(const Question& question) {
    const auto known = memory_->answers.find(question);
    if (known != memory_->answers.end()) return known->second;
    ++memory_->asked;
    const Answer reply = inner_.answer(question);
    if (watch_) watch_(question, reply.fact.has() ? "value" : reply.fact.absent() ? "absent" : reply.fact.why().error);
    return memory_->answers.emplace(question, reply).first->second;
}

std::string Recorder::snapshot() const {
    Json answers = Json::object();
    for (const auto& [question, reply] : memory_->answers) answers[question.kind][question.argument] = reply.fact;
    nlohmann::ordered_json document;
    document["schema"] = snapshot_schema;
    document["tool"] = {{"version", tool_version}, {"commit", tool_commit}};
    document["answers"] = answers;
    return document.dump(1) + "\n";
}

std::vector<std::pair<std::string, std::string>> Recorder::unreadable() const {
    std::vector<std::pair<std::string, std::string>> list;
    for (const auto& [question, reply] : memory_->answers)
        if (reply.fact.unreadable())
            list.emplace_back(question.argument.empty() ? question.kind : question.kind + " " + question.argument, reply.fact.why().error);
    return list;
}

std::size_t Recorder::asked() const {
    return memory_->asked;
}

}  // namespace preflight
