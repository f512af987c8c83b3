#include "preflight/finding.h"

#include <algorithm>
#include <array>

namespace preflight {

std::string_view name(Status status) {
    static constexpr std::array names = {"pass", "warn", "fail", "unknown", "skip", "blocked"};
    return names[static_cast<std::size_t>(status)];
}

bool Subject::covers(const Subject& other) const {
    if (whole_node()) return true;
    return std::any_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return std::find(other.keys.begin(), other.keys.end(), key) != other.keys.end(); });
}

Subject node_subject() {
    return {"node", {}};
}

Remedy no_known_remedy() {
    return {"No known remedy.", {}, {}, {}};
}

Draft& Draft::want(std::string expected) {
    finding_.expected = std::move(expected);
    return *this;
}

Draft& Draft::from(std::string source) {
    finding_.source = std::move(source);
    return *this;
}

Draft& Draft::mend(Remedy remedy) {
    finding_.remedy = std::move(remedy);
    return *this;
}

Draft& Draft::note(std::string key, EvidenceValue value) {
    finding_.evidence.emplace_back(std::move(key), std::move(value));
    return *this;
}

Draft& Draft::because(std::string why) {
    finding_.why = std::move(why);
    return *this;
}

Draft& Draft::unproven(std::string proof_left) {
    finding_.unproven = true;
    finding_.proof_left = std::move(proof_left);
    return *this;
}

Draft& Draft::proven() {
    finding_.proven = true;
    return *this;
}

Draft& Draft::switched_off() {
    finding_.switched_off = true;
    return *this;
}

Draft& Draft::now(std::string what) {
    finding_.now = std::move(what);
    return *this;
}

Draft Findings::add(Status status, Subject subject, std::string observed) {
    Finding& finding = list_.emplace_back();
    finding.status = status;
    finding.subject = std::move(subject);
    finding.observed = std::move(observed);
    return Draft(finding);
}

Draft Findings::unknown(Subject subject, std::string reason, std::string how) {
    Draft draft = add(Status::unknown, std::move(subject), std::move(reason));
    draft.mend({std::move(how), {}, {}, {}});
    return draft;
}

}  // namespace preflight
