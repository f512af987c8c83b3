#pragma once
// What `--version` and every report say of the tool. The commit is empty in a build from a source archive.

namespace preflight {

extern const char* const tool_name;
extern const char* const tool_version;
extern const char* const tool_commit;

inline constexpr const char* report_schema = "aistor-rdma-check/report/1";
inline constexpr const char* snapshot_schema = "aistor-rdma-check/snapshot/1";
inline constexpr const char* compare_schema = "aistor-rdma-check/compare/1";
inline constexpr const char* policy_schema = "aistor-rdma-check/policy/1";

}  // namespace preflight
