#include "report/schema.h"

#include <map>
#include <nlohmann/json.hpp>

namespace preflight {
namespace {

// Readers ignore unknown members, so nothing here forbids them; within one schema number members are only added.
constexpr const char* report = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:aistor-rdma-check:report:1",
  "title": "aistor-rdma-check report",
  "type": "object",
  "required": ["schema", "tool", "node", "run", "cluster", "verdict", "outcome", "phases", "compare_keys", "findings"],
  "properties": {
    "schema": {"const": "aistor-rdma-check/report/1"},
    "tool": {"type": "object", "required": ["version", "commit"],
             "properties": {"version": {"type": "string"}, "commit": {"type": "string"}}},
    "node": {"type": "object", "required": ["hostname", "boot_id", "kernel", "os", "architecture"],
             "additionalProperties": {"type": "string"}},
    "run": {
      "type": "object",
      "required": ["started", "duration_ms", "source", "stage", "roles", "deployment", "want", "selection", "options",
                   "effective_uid", "capabilities", "unreadable"],
      "properties": {
        "started": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"},
        "duration_ms": {"type": "integer", "minimum": 0},
        "source": {"enum": ["live", "snapshot"]},
        "stage": {"enum": ["on", "ready"]},
        "roles": {"type": "array", "items": {"enum": ["storage", "client"]}},
        "deployment": {"enum": ["systemd", "container"]},
        "want": {"type": "array", "items": {"enum": ["internode", "s3"]}},
        "selection": {
          "type": "object", "required": ["phases", "only", "skip"],
          "properties": {"phases": {"type": "array", "items": {"enum": ["A", "B", "C"]}},
                         "only": {"$ref": "#/$defs/words"}, "skip": {"$ref": "#/$defs/words"}}},
        "options": {"type": "object"},
        "effective_uid": {"type": "integer", "minimum": 0},
        "capabilities": {"$ref": "#/$defs/words"},
        "unreadable": {"type": "array", "items": {
          "type": "object", "required": ["what", "errno"],
          "properties": {"what": {"type": "string"}, "errno": {"type": "string"}}}}}},
    "cluster": {
      "type": "object", "required": ["fingerprint", "self", "addresses", "peers"],
      "properties": {
        "fingerprint": {"type": "string"}, "self": {"$ref": "#/$defs/words"}, "addresses": {"$ref": "#/$defs/words"},
        "peers": {"type": "array", "items": {
          "type": "object", "required": ["name", "address"],
          "properties": {"name": {"type": "string"}, "address": {"type": "string"}}}}}},
    "verdict": {"$ref": "#/$defs/verdict"},
    "outcome": {
      "type": "object", "required": ["internode_rdma", "s3_over_rdma"],
      "additionalProperties": {
        "type": "object", "required": ["answer", "now", "because", "sentence"],
        "properties": {
          "answer": {"enum": ["yes", "no", "unknown", "off"]},
          "now": {"enum": ["yes", "no", "unknown", "not-running"]},
          "because": {"type": "array", "items": {"$ref": "#/$defs/id"}},
          "sentence": {"type": "string", "minLength": 1}}}},
    "phases": {
      "type": "object", "propertyNames": {"enum": ["A", "B", "C"]},
      "additionalProperties": {
        "type": "object", "required": ["title", "verdict", "counts"],
        "properties": {
          "title": {"type": "string"}, "verdict": {"$ref": "#/$defs/verdict"},
          "counts": {"type": "object",
                     "required": ["pass", "warn", "fail", "unknown", "skip", "blocked", "waived"],
                     "additionalProperties": {"type": "integer", "minimum": 0}}}}},
    "compare_keys": {
      "type": "object",
      "additionalProperties": {
        "type": "object", "required": ["state", "value", "origin"],
        "properties": {"state": {"enum": ["set", "unset", "unknown"]}, "value": {"type": "string"},
                       "origin": {"type": "string"}}}},
    "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}},
    "notes": {"$ref": "#/$defs/words"}
  },
  "$defs": {
    "words": {"type": "array", "items": {"type": "string"}},
    "id": {"type": "string", "pattern": "^[a-z0-9]+\\.[a-z0-9_]+$"},
    "verdict": {"enum": ["pass", "fail", "incomplete", "not-applicable"]},
    "remedy": {
      "type": "object", "required": ["summary", "commands", "persist", "undo"],
      "properties": {"summary": {"type": "string"}, "commands": {"$ref": "#/$defs/words"},
                     "persist": {"$ref": "#/$defs/words"}, "undo": {"$ref": "#/$defs/words"}}},
    "finding": {
      "type": "object",
      "required": ["id", "phase", "status", "subject", "title", "observed", "expected", "source", "blocked_by", "waiver",
                   "duration_us"],
      "properties": {
        "id": {"$ref": "#/$defs/id"},
        "phase": {"enum": ["A", "B", "C"]},
        "status": {"enum": ["pass", "warn", "fail", "unknown", "skip", "blocked"]},
        "subject": {"type": "string", "minLength": 1},
        "port": {"type": "string"},
        "ports": {"$ref": "#/$defs/words"},
        "title": {"type": "string", "minLength": 1},
        "observed": {"type": "string", "minLength": 1},
        "expected": {"type": "string"}, "source": {"type": "string"}, "why": {"type": "string"},
        "remedy": {"$ref": "#/$defs/remedy"},
        "evidence": {"type": "object"},
        "blocked_by": {"type": "array", "items": {"$ref": "#/$defs/id"}},
        "waiver": {"anyOf": [
          {"type": "null"},
          {"type": "object", "required": ["reason", "owner", "expires"],
           "properties": {"reason": {"type": "string"}, "owner": {"type": "string"}, "expires": {"type": "string"}}}]},
        "duration_us": {"type": "integer", "minimum": 0}},
      "allOf": [
        {"if": {"properties": {"status": {"enum": ["warn", "fail", "unknown", "blocked"]}}},
         "then": {"required": ["why", "remedy", "evidence"]}},
        {"if": {"properties": {"status": {"const": "blocked"}}},
         "then": {"properties": {"blocked_by": {"minItems": 1}}},
         "else": {"properties": {"blocked_by": {"maxItems": 0}}}}]}
  }
}
)";

constexpr const char* snapshot = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:aistor-rdma-check:snapshot:1",
  "title": "aistor-rdma-check snapshot: the answers of a node",
  "type": "object",
  "required": ["schema", "tool", "answers"],
  "properties": {
    "schema": {"const": "aistor-rdma-check/snapshot/1"},
    "tool": {"type": "object", "required": ["version", "commit"],
             "properties": {"version": {"type": "string"}, "commit": {"type": "string"}}},
    "answers": {
      "description": "kind of question -> argument (a path, a netdev, empty for the whole node) -> answer",
      "type": "object",
      "additionalProperties": {"type": "object", "additionalProperties": {"$ref": "#/$defs/answer"}}}
  },
  "$defs": {
    "answer": {
      "description": "null or {absent}: the node said it is not there. {error, cause}: the node gave no answer. Otherwise the answer.",
      "anyOf": [
        {"type": "null"},
        {"type": "object", "required": ["absent"], "properties": {"absent": {"type": "string"}}},
        {"type": "object", "required": ["error", "cause"],
         "properties": {"error": {"type": "string"}, "cause": {"type": "string"}}},
        {"type": ["string", "array", "object", "number", "boolean"]}]}
  }
}
)";

// Here unknown members are refused: a misspelt expectation would pass silently.
constexpr const char* policy = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:aistor-rdma-check:policy:1",
  "title": "aistor-rdma-check policy: what a site expects, attests and waives; the file may hold comments",
  "type": "object",
  "required": ["schema"],
  "additionalProperties": false,
  "properties": {
    "schema": {"const": "aistor-rdma-check/policy/1"},
    "expect": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "priority": {"description": "the lossless priority", "type": "integer", "minimum": 0, "maximum": 7},
        "dscp": {"description": "of RoCE traffic", "type": "integer", "minimum": 0, "maximum": 63},
        "mtu": {"description": "of the storage netdevs, bytes", "type": "integer", "minimum": 576, "maximum": 65535},
        "dcb_owner": {"description": "host: DCB is set on the node; switch: by DCBX and the firmware's LLDP agent",
                      "enum": ["host", "switch"]},
        "driver": {"description": "netdev driver -> glob over the version that ethtool -i prints", "type": "object", "additionalProperties": {"$ref": "#/$defs/text"}},
        "firmware": {"description": "PCI ids such as 8086:1592 -> glob over the firmware version that ethtool -i prints", "type": "object",
                     "propertyNames": {"pattern": "^[0-9a-f]{4}:[0-9a-f]{4}$"}, "additionalProperties": {"$ref": "#/$defs/text"}}}},
    "attest": {
      "type": "object", "additionalProperties": false,
      "properties": {
        "switch": {
          "description": "the switch profile, which no host can see",
          "type": "object", "additionalProperties": false, "required": ["who", "when", "what"],
          "properties": {"who": {"$ref": "#/$defs/text"}, "when": {"$ref": "#/$defs/date"}, "what": {"$ref": "#/$defs/text"}}},
        "proven": {
          "description": "what somebody has seen work, so that a warning which leaves the outcome open passes",
          "type": "array",
          "items": {
            "type": "object", "additionalProperties": false, "required": ["id", "release", "driver", "who", "when", "what"],
            "properties": {
              "id": {"description": "glob over check ids, such as rdma.limits", "$ref": "#/$defs/text"},
              "release": {"description": "glob over the server's release", "$ref": "#/$defs/text"},
              "driver": {"description": "glob over driver and version as compare_keys has them in network.driver", "$ref": "#/$defs/text"},
              "who": {"$ref": "#/$defs/text"}, "when": {"$ref": "#/$defs/date"},
              "what": {"description": "how it was seen", "$ref": "#/$defs/text"}}}}}},
    "waivers": {
      "type": "array",
      "items": {
        "type": "object", "additionalProperties": false, "required": ["id", "reason", "owner", "expires"],
        "properties": {
          "id": {"description": "glob over check ids", "$ref": "#/$defs/text"},
          "scope": {"description": "glob over the subject or its PCI address; absent: every subject", "$ref": "#/$defs/text"},
          "reason": {"$ref": "#/$defs/text"}, "owner": {"$ref": "#/$defs/text"},
          "expires": {"description": "the last day on which it holds", "$ref": "#/$defs/date"}}}}
  },
  "$defs": {
    "text": {"type": "string", "minLength": 1},
    "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
  }
}
)";

/// Its findings are those of a report, in a phase of their own.
std::string compare() {
    using Json = nlohmann::ordered_json;
    const Json of_report = Json::parse(report);
    const Json text = {{"type", "string"}}, words = {{"$ref", "#/$defs/words"}};
    Json json = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"$id", "urn:aistor-rdma-check:compare:1"},
                 {"title", "aistor-rdma-check compare: reports of many nodes side by side"},
                 {"type", "object"},
                 {"required", {"schema", "tool", "nodes", "verdict", "counts", "findings", "notes"}}};
    Json& properties = json["properties"];
    properties["schema"] = {{"const", "aistor-rdma-check/compare/1"}};
    properties["tool"] = of_report["properties"]["tool"];
    properties["nodes"] = {{"type", "array"},
                           {"items",
                            {{"type", "object"},
                             {"required", {"name", "hostname", "file", "started", "roles", "verdict", "outcome"}},
                             {"properties", {{"name", text}, {"hostname", text}, {"file", text}, {"started", text}, {"roles", words}, {"verdict", text}, {"outcome", {{"type", "object"}, {"additionalProperties", text}}}}}}}};
    properties["verdict"] = {{"$ref", "#/$defs/verdict"}};
    properties["counts"] = of_report["properties"]["phases"]["additionalProperties"]["properties"]["counts"];
    properties["findings"] = of_report["properties"]["findings"];
    properties["notes"] = words;
    json["$defs"] = of_report["$defs"];
    json["$defs"]["finding"]["properties"]["phase"] = {{"const", "F"}};
    return json.dump(2) + "\n";
}

const std::map<std::string, std::string>& schemas() {
    static const std::map<std::string, std::string> table = {{"report", report}, {"snapshot", snapshot}, {"compare", compare()}, {"policy", policy}};
    return table;
}

}  // namespace

std::vector<std::string> schema_names() {
    std::vector<std::string> names;
    for (const auto& [known, text] : schemas()) names.push_back(known);
    return names;
}

std::optional<std::string> schema_text(const std::string& name) {
    const auto found = schemas().find(name);
    if (found == schemas().end()) return std::nullopt;
    return found->second;
}

}  // namespace preflight
