#include <map>
#include <set>

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
    return remember(question, inner_.answer(question));
}

const Answer& Recorder::remember(const Question& question, const Answer& reply) {
    ++memory_->asked;
    if (watch_) watch_(question, reply.fact.has() ? "value" : reply.fact.absent() ? "absent" : reply.fact.why().error);
    return memory_->answers.emplace(question, reply).first->second;
}

std::vector<Answer> Recorder::answers(const std::vector<Question>& questions) {
    std::set<Question> seen;
    std::vector<Question> open;
    for (const Question& question : questions)
        if (!memory_->answers.count(question) && seen.insert(question).second) open.push_back(question);
    const std::vector<Answer> replies = inner_.answers(open);
    for (std::size_t i = 0; i < open.size(); ++i) remember(open[i], replies[i]);
    std::vector<Answer> all;
    for (const Question& question : questions) all.push_back(memory_->answers.at(question));
    return all;
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
