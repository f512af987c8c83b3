#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "facts/pci_paths.h"
#include "modules.h"
#include "preflight/facts.h"
#include "support/fake_host.h"

namespace preflight {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Report judged_gpu(FakeHost& host, Options options = {}) {
    const Facts facts(host, std::move(options));
    return judge({gpu_module()}, facts);
}

void gpu_driver(FakeHost& host, const std::string& line) { host.text("/proc/driver/nvidia/version", "NVRM version: " + line + "\n"); }
const std::string open_570 = "NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build";
const std::string proprietary_550 = "NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024";

void kernel(FakeHost& host, const std::string& release) {
    host.edit<Node>("node", "", [&](Node& node) { node.kernel = release; });
    host.text("/lib/modules/" + release + "/modules.builtin", "kernel/fs/fuse/fuse.ko\n");
}

TEST(GpuNode, has_nothing_to_complain_about) {
    FakeHost host = gpu_node();
    const Report report = judged_gpu(host);
    EXPECT_THAT(complaints(report), IsEmpty());
    for (const Finding& finding : report.findings) EXPECT_EQ(finding.status, Status::pass) << finding.id << ": " << finding.observed;
}

// GPU-05.
TEST(NodeWithoutGpu, skips_every_gpu_row_with_the_reason) {
    FakeHost storage_node = mlx5_node();
    for (const Finding& finding : judged_gpu(storage_node).findings) EXPECT_EQ(finding.status, Status::skip) << finding.id;
    Options as_client;
    as_client.roles = client;
    FakeHost client_node = mlx5_node();
    for (const Finding& finding : judged_gpu(client_node, as_client).findings) {
        EXPECT_EQ(finding.status, Status::skip) << finding.id;
        EXPECT_THAT(finding.observed, HasSubstr("no NVIDIA GPU"));
    }
}

TEST(NodeWithoutPciList, cannot_say_that_it_has_no_gpu) {
    FakeHost host = mlx5_node();
    host.unreadable("list", "/sys/bus/pci/devices", "EACCES");
    Options as_client;
    as_client.roles = client;
    EXPECT_EQ(only(judged_gpu(host, as_client), "gpu.present").status, Status::unknown);
}

TEST(GpuPresent, shows_the_size_of_bar1_and_warns_of_a_small_one) {
    FakeHost host = gpu_node();
    EXPECT_THAT(only(judged_gpu(host), "gpu.present").observed, HasSubstr("BAR1 128 GiB"));
    host.text("/sys/bus/pci/devices/0000:18:00.0/resource", "0x00000000d0000000 0x00000000d0ffffff 0x0000000000040200\n0x00000000c0000000 0x00000000cfffffff 0x000000000014220c\n");
    EXPECT_EQ(only(judged_gpu(host), "gpu.present").status, Status::warn);
    host.text("/sys/bus/pci/devices/0000:18:00.0/resource", "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
    EXPECT_THAT(only(judged_gpu(host), "gpu.present").observed, HasSubstr("assigned no memory region"));
    host.text("/sys/bus/pci/devices/0000:18:00.0/resource", "what\n");
    EXPECT_EQ(only(judged_gpu(host), "gpu.present").status, Status::pass);
}

TEST(GpuPresent, takes_no_other_vendor_and_no_nvidia_switch_for_a_gpu) {
    FakeHost host = mlx5_node();
    host.add_pci("0000:02:00.0", 0x030000, 0x102b, 0x0538, "mgag200");
    host.add_pci("0000:05:00.0", 0x068000, 0x10de, 0x22a3, "nvidia-nvswitch");
    Options as_client;
    as_client.roles = client;
    EXPECT_EQ(only(judged_gpu(host, as_client), "gpu.present").status, Status::skip);
}

TEST(GpuDriver, needs_470_and_shows_its_flavour) {
    FakeHost host = gpu_node();
    EXPECT_THAT(only(judged_gpu(host), "gpu.driver").observed, HasSubstr("570.86.15, open"));
    gpu_driver(host, proprietary_550);
    EXPECT_THAT(only(judged_gpu(host), "gpu.driver").observed, HasSubstr("550.54.15, proprietary"));
    gpu_driver(host, "NVIDIA UNIX x86_64 Kernel Module  470.82.01  Wed");
    EXPECT_EQ(only(judged_gpu(host), "gpu.driver").status, Status::pass);
    gpu_driver(host, "NVIDIA UNIX x86_64 Kernel Module  460.106.00  Tue");
    EXPECT_EQ(only(judged_gpu(host), "gpu.driver").status, Status::fail);
}

TEST(GpuDriver, that_is_not_loaded_fails_and_names_who_holds_the_gpu) {
    FakeHost host = gpu_node();
    host.absent("read", "/proc/driver/nvidia/version");
    host.set("link_target", "/sys/bus/pci/devices/0000:18:00.0/driver", std::string("../../../../bus/pci/drivers/nouveau"));
    const Finding finding = only(judged_gpu(host), "gpu.driver");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.observed, HasSubstr("nouveau"));
}

TEST(GpuDriver, that_cannot_be_read_is_unknown) {
    FakeHost host = gpu_node();
    host.unreadable("read", "/proc/driver/nvidia/version", "EACCES");
    EXPECT_EQ(only(judged_gpu(host), "gpu.driver").status, Status::unknown);
    gpu_driver(host, "something else");
    EXPECT_EQ(only(judged_gpu(host), "gpu.driver").status, Status::unknown);
}

// GPU-01: driver 550, no nvidia_peermem in /proc/modules.
TEST(GpuPeermem, fails_without_either_way) {
    FakeHost host = gpu_node();
    gpu_driver(host, proprietary_550);
    host.unload("nvidia_peermem");
    const Finding finding = only(judged_gpu(host), "gpu.peermem");
    EXPECT_EQ(finding.status, Status::fail);
    EXPECT_THAT(finding.remedy.commands, Contains("sudo modprobe nvidia_peermem"));
    host.absent("list", "/sys/kernel/mm/memory_peers");
    EXPECT_THAT(only(judged_gpu(host), "gpu.peermem").remedy.commands, IsEmpty()) << "without the API loading the module cures nothing";
}

// GPU-02.
TEST(GpuPeermem, that_is_loaded_without_a_visible_registration_warns) {
    FakeHost host = gpu_node();
    gpu_driver(host, proprietary_550);
    host.absent("list", "/sys/kernel/mm/memory_peers");
    const Finding finding = only(judged_gpu(host), "gpu.peermem");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("registration does not show"));
}

// GPU-03: open GPU driver, kernel 6.8, no peermem.
TEST(GpuPeermem, absent_beside_a_working_dma_buf_warns) {
    FakeHost host = gpu_node();
    kernel(host, "6.8.0-45-generic");
    host.unload("nvidia_peermem");
    host.absent("list", "/sys/kernel/mm/memory_peers");
    const Finding finding = only(judged_gpu(host), "gpu.peermem");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("dma-buf works here"));
}

TEST(GpuPeermem, passes_when_loaded_and_registered_whatever_the_flavour) {
    FakeHost host = gpu_node();
    gpu_driver(host, proprietary_550);
    EXPECT_EQ(only(judged_gpu(host), "gpu.peermem").status, Status::pass);
}

FakeHost e810_gpu_node() {
    FakeHost host = gpu_node();
    for (const char* device : {"mlx5_0", "mlx5_1"}) host.rdma_device(device, [](RdmaDevice& known) { known.uverbs = RdmaChardev{"uverbs0", 9u}; });
    return host;
}

TEST(GpuPeermem, on_irdma_takes_dma_buf_alone_for_a_way) {
    FakeHost host = e810_gpu_node();
    const Finding good = only(judged_gpu(host), "gpu.peermem");
    EXPECT_EQ(good.subject.text, "irdma");
    EXPECT_EQ(good.status, Status::pass);
    EXPECT_THAT(good.observed, HasSubstr("rdma-core 50"));
    gpu_driver(host, proprietary_550);
    const Finding bad = only(judged_gpu(host), "gpu.peermem");
    EXPECT_EQ(bad.status, Status::fail);
    EXPECT_THAT(bad.observed, HasSubstr("loaded, but does not serve irdma"));
}

TEST(GpuPeermem, on_irdma_needs_kernel_and_library_as_well) {
    FakeHost old_kernel = e810_gpu_node();
    kernel(old_kernel, "6.1.0-28-amd64");
    EXPECT_EQ(only(judged_gpu(old_kernel), "gpu.peermem").status, Status::fail);
    FakeHost between = e810_gpu_node();
    kernel(between, "6.6.30");
    EXPECT_EQ(only(judged_gpu(between), "gpu.peermem").status, Status::unknown);
    FakeHost vendor = e810_gpu_node();
    kernel(vendor, "5.14.0-503.el9.x86_64");
    EXPECT_EQ(only(judged_gpu(vendor), "gpu.peermem").status, Status::unknown) << "a vendor kernel may carry a later driver";
    FakeHost old_library = e810_gpu_node();
    old_library.set("resolve", "/usr/lib64/libibverbs.so.1", std::string("/usr/lib64/libibverbs.so.1.14.44.0"));
    EXPECT_EQ(only(judged_gpu(old_library), "gpu.peermem").status, Status::fail);
    FakeHost unnamed_library = e810_gpu_node();
    unnamed_library.set("resolve", "/usr/lib64/libibverbs.so.1", std::string("/opt/lib/libibverbs.so.1"));
    EXPECT_EQ(only(judged_gpu(unnamed_library), "gpu.peermem").status, Status::unknown);
}

TEST(GpuPeermem, without_an_rdma_device_waits_for_one) {
    FakeHost host = gpu_node();
    host.drop_rdma("mlx5_0");
    host.drop_rdma("mlx5_1");
    EXPECT_EQ(only(judged_gpu(host), "gpu.peermem").status, Status::unknown);
}

Distance distance_of(FakeHost& host, std::size_t nic = 0) {
    const Facts facts(host, Options{});
    const PciPaths& paths = facts.pci_paths();
    return paths.distance(paths.gpus.at(0), paths.nics.at(nic));
}

TEST(GpuTopology, names_distances_as_operators_know_them) {
    FakeHost host = gpu_node();
    EXPECT_EQ(distance_of(host), Distance::pix);
    host.place("0000:3b:00.0", "pci0000:15", {"0000:15:01.0", "0000:16:00.0", "0000:17:02.0", "0000:38:00.0", "0000:39:00.0"});
    EXPECT_EQ(distance_of(host), Distance::pxb);
    host.place("0000:3b:00.0", "pci0000:15", {"0000:15:05.0"});
    EXPECT_EQ(distance_of(host), Distance::phb);
    host.place("0000:3b:00.0", "pci0000:3a", {"0000:3a:00.0"});
    EXPECT_EQ(distance_of(host), Distance::node);
    host.place("0000:3b:00.0", "pci0000:ba", {"0000:ba:00.0"}, 1);
    EXPECT_EQ(distance_of(host), Distance::sys);
    EXPECT_EQ(distance_of(host, 1), Distance::pix);
}

TEST(GpuTopology, on_a_node_without_numa_takes_two_host_bridges_for_one_node) {
    FakeHost host = gpu_node();
    host.place("0000:3b:00.0", "pci0000:3a", {"0000:3a:00.0"}, -1);
    EXPECT_EQ(distance_of(host), Distance::unknown);
    host.set("list", "/sys/devices/system/node", std::vector<std::string>{"node0"});
    EXPECT_EQ(distance_of(host), Distance::node);
}

TEST(GpuTopology, warns_when_the_nearest_nic_is_on_another_socket) {
    FakeHost host = gpu_node();
    host.place("0000:3b:00.0", "pci0000:ba", {"0000:ba:00.0"}, 1);
    EXPECT_EQ(only(judged_gpu(host), "gpu.topology").status, Status::pass) << "the other port is near";
    host.place("0000:3b:00.1", "pci0000:ba", {"0000:ba:00.0"}, 1);
    const Finding finding = only(judged_gpu(host), "gpu.topology");
    EXPECT_EQ(finding.status, Status::warn);
    EXPECT_THAT(finding.observed, HasSubstr("mlx5_0 (ens1f0np0) and mlx5_1 (ens1f1np1)"));
}

TEST(GpuTopology, judges_only_the_nics_that_were_named) {
    FakeHost host = gpu_node();
    host.place("0000:3b:00.1", "pci0000:ba", {"0000:ba:00.0"}, 1);
    EXPECT_EQ(only(judged_gpu(host, interfaces({"ens1f1np1"})), "gpu.topology").status, Status::warn);
}

TEST(GpuTopology, is_unknown_where_the_firmware_names_no_numa_node) {
    FakeHost host = gpu_node();
    for (const char* nic : {"0000:3b:00.0", "0000:3b:00.1"}) host.place(nic, "pci0000:3a", {"0000:3a:00.0"}, -1);
    EXPECT_EQ(only(judged_gpu(host), "gpu.topology").status, Status::unknown);
    FakeHost hidden = gpu_node();
    hidden.unreadable("resolve", "/sys/bus/pci/devices/0000:18:00.0", "EACCES");
    EXPECT_EQ(only(judged_gpu(hidden), "gpu.topology").status, Status::unknown);
}

TEST(GpuTable, has_a_row_for_each_gpu_and_names_its_nearest_nic) {
    FakeHost host = gpu_node();
    host.place("0000:3b:00.1", "pci0000:ba", {"0000:ba:00.0"}, 1);
    const Facts facts(host, Options{});
    EXPECT_EQ(facts.pci_paths().table(),
              "GPU           NIC0  NIC1  nearest\n"
              "0000:18:00.0  PIX   SYS   NIC0\n"
              "NIC0  0000:3b:00.0 mlx5_0 (ens1f0np0)\n"
              "NIC1  0000:3b:00.1 mlx5_1 (ens1f1np1)");
    FakeHost without = mlx5_node();
    EXPECT_EQ(Facts(without, Options{}).pci_paths().table(), "");
}

/// No answer that is taken away may fail a good GPU node, nor end the program.
TEST(UnreadAnswer, never_fails_a_healthy_gpu_node) {
    const FakeHost whole = gpu_node();
    for (const auto& [question, answer] : whole.answers) {
        FakeHost host = whole;
        host.unreadable(question.kind, question.argument, "EACCES");
        const Facts facts(host, Options{});
        for (const Finding& finding : judge({s3_module(), gpu_module(), pcie_module()}, facts).findings)
            EXPECT_NE(finding.status, Status::fail) << question.kind << " " << question.argument << ": " << finding.id << " " << finding.observed;
    }
}

/// The same for a node whose GPU memory can be registered by nvidia_peermem alone.
TEST(UnreadAnswer, never_fails_a_gpu_node_with_the_proprietary_driver) {
    FakeHost whole = gpu_node();
    gpu_driver(whole, proprietary_550);
    for (const auto& [question, answer] : whole.answers) {
        FakeHost host = whole;
        host.unreadable(question.kind, question.argument, "EACCES");
        for (const Finding& finding : judged_gpu(host).findings) EXPECT_NE(finding.status, Status::fail) << question.kind << " " << question.argument << ": " << finding.id << " " << finding.observed;
    }
}

/// What is broken may become unknown when an answer is lost, and never right.
TEST(LostAnswer, never_makes_a_broken_gpu_node_pass) {
    FakeHost whole = gpu_node();
    whole.add_bridge("0000:17:00.0", 0x1d);
    gpu_driver(whole, proprietary_550);
    whole.unload("nvidia_peermem");
    for (const char* device : {"mlx5_0", "mlx5_1"}) whole.rdma_device(device, [](RdmaDevice& known) { known.uverbs = RdmaChardev{"uverbs0", 9u}; });
    whole.set("caller", "", Caller{{"S3RDMA_DEVICE=mlx5_9"}, {~0ull, ~0ull}});
    const std::vector<std::string> broken = {"pcie.acs", "gpu.peermem", "s3.transport", "s3.device"};
    Options as_client;
    as_client.roles = client;
    for (const auto& [question, answer] : whole.answers)
        for (const bool gone : {false, true}) {
            if (gone && (question.kind == "list" || question.kind == "caller")) continue;  // an empty PCI bus or shell is another node
            FakeHost host = whole;
            if (gone) host.absent(question.kind, question.argument);
            else host.unreadable(question.kind, question.argument, "EACCES");
            const Facts facts(host, as_client);
            for (const Finding& finding : judge({s3_module(), gpu_module(), pcie_module()}, facts).findings)
                if (std::find(broken.begin(), broken.end(), finding.id) != broken.end()) {
                    EXPECT_TRUE(finding.status != Status::pass && (gone || finding.status != Status::skip)) << question.kind << " " << question.argument << (gone ? " gone: " : " unreadable: ") << finding.id << " " << finding.observed;
                }
        }
}

}  // namespace
}  // namespace preflight
