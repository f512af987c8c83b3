#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "host/answer.h"
#include "preflight/engine.h"

namespace preflight {
namespace {

/// The healthy nodes of the cases, with the interfaces their operator would name.
struct Base {
    std::string name;
    std::vector<std::string> interfaces;
};
const Base bases[] = {{"e810-healthy", {"enp59s0f0np0", "enp59s0f1np1"}}, {"mlx5-healthy", {"enp59s0f0np0", "enp59s0f1np1"}}, {"e810-active-backup", {"bond0"}}, {"storage-service", {"enp59s0f0np0", "enp59s0f1np1"}}};

/// A recorded node with one answer changed.
class Altered : public Host {
public:
    explicit Altered(const std::string& base) {
        const Json snapshot = Json::parse(std::ifstream(TESTS_DIR "/cases/bases/" + base + ".json"));
        for (const auto& [kind, of_kind] : snapshot["answers"].items())
            for (const auto& [argument, value] : of_kind.items()) whole.emplace(Question{kind, argument}, value.get<Fact<Json>>());
    }

    std::map<Question, Fact<Json>> whole;
    std::optional<Question> changed;
    Fact<Json> instead = Absent{};

protected:
    Answer answer(const Question& question) override {
        if (changed && !(*changed < question) && !(question < *changed)) return {instead};
        const auto known = whole.find(question);
        return known == whole.end() ? Answer{Unreadable{"not-captured", question.kind}} : Answer{known->second};
    }
};

/// What is put in an answer's place, by name. Only text and lists have an empty and a cut form that is still an answer.
std::map<std::string, Fact<Json>> losses(const Fact<Json>& answer) {
    std::map<std::string, Fact<Json>> list{{"EACCES", Unreadable{"EACCES", "Permission denied"}}, {"EIO", Unreadable{"EIO", "Input/output error"}}};
    if (!answer) return list;
    list.emplace("absent", Absent{});
    if (answer->is_string()) {
        list.emplace("empty", Json(""));
        list.emplace("cut", Json(answer->get<std::string>().substr(0, answer->get<std::string>().size() / 2)));
    } else if (answer->is_array()) {
        list.emplace("empty", Json::array());
        list.emplace("cut", Json(std::vector<Json>(answer->begin(), answer->begin() + static_cast<std::ptrdiff_t>(answer->size() / 2))));
    }
    return list;
}

using Statuses = std::map<std::pair<std::string, std::string>, Status>;

struct Judged {
    Statuses statuses;
    Report report;
};

Judged judged(Altered& node, const Base& base) {
    Options options;
    options.from_snapshot = true;
    options.interfaces = base.interfaces;
    Judged result{{}, judge(modules(), Facts(node, options))};
    for (const Finding& finding : result.report.findings) result.statuses[{std::string(finding.id), finding.subject.text}] = finding.status;
    return result;
}

bool better(Verdict now, Verdict before) {
    return now == Verdict::pass && before != Verdict::pass;
}

/// Lines "kind argument: losses that changed no finding's status, on any healthy node".
std::set<std::string> generated_table() {
    std::map<std::string, std::map<std::string, bool>> unmoved;
    for (const Base& base : bases) {
        Altered node(base.name);
        const Judged whole = judged(node, base);
        for (const auto& [question, answer] : node.whole)
            for (const auto& [loss, instead] : losses(answer)) {
                node.changed = question;
                node.instead = instead;
                const std::string what = base.name + ": " + question.kind + " " + question.argument + " " + loss;
                try {
                    const Judged without = judged(node, base);
                    EXPECT_FALSE(better(without.report.verdict, whole.report.verdict)) << what;
                    for (std::size_t i = 0; i < whole.report.phases.size(); ++i) EXPECT_FALSE(better(without.report.phases[i].verdict, whole.report.phases[i].verdict)) << what;
                    for (std::size_t i = 0; i < whole.report.outcomes.size() && i < without.report.outcomes.size(); ++i)
                        EXPECT_TRUE(without.report.outcomes[i].answer != "yes" || whole.report.outcomes[i].answer == "yes") << what;
                    if (instead.unreadable())
                        for (const auto& [key, status] : without.statuses)
                            if (const auto before = whole.statuses.find(key); status == Status::fail && (before == whole.statuses.end() || before->second != Status::fail))
                                ADD_FAILURE() << what << ": " << key.first << " " << key.second << " fails on what could not be read";
                    auto& cell = unmoved[question.kind + " " + question.argument].try_emplace(loss, true).first->second;
                    cell = cell && without.statuses == whole.statuses;
                } catch (const std::exception& error) {
                    ADD_FAILURE() << what << ": " << error.what();
                }
            }
    }
    std::set<std::string> table;
    for (const auto& [question, cells] : unmoved) {
        std::string line = question + ":";
        for (const auto& [loss, same] : cells)
            if (same) line += " " + loss;
        if (line.back() != ':') table.insert(line);
    }
    return table;
}

/// tests/cases/not-needed.txt lists, and a person has read, which answers no finding's status rests on. An answer that
/// joins it may be one that a rule stopped looking at.
TEST(NoFalsePass, each_lost_answer_moves_a_finding_or_is_known_not_to_matter) {
    const std::string path = TESTS_DIR "/cases/not-needed.txt";
    std::set<std::string> known;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#') known.insert(line);
    const auto table = generated_table();
    const std::string copy = testing::TempDir() + "not-needed.txt";
    std::ofstream out(copy);
    for (const std::string& line : table) out << line << '\n';
    for (const std::string& line : table) EXPECT_TRUE(known.count(line)) << "not listed: " << line << "\nall lines: " << copy;
    for (const std::string& line : known) EXPECT_TRUE(table.count(line)) << "listed, but it matters now: " << line;
}

}  // namespace
}  // namespace preflight
