// SPDX-License-Identifier: GPL-2.0
/*
 * nicsim_rdma - test-only: makes an rxe device created on a net device with a PCI parent look like that PCI
 * function's own RDMA device: sysfs parent ('device' link, <pci>/infiniband/), vendor_id, vendor_part_id, fw_ver.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

static int (*orig_query)(struct ib_device *ib, struct ib_device_attr *a, struct ib_udata *u);

static int query_device(struct ib_device *ib, struct ib_device_attr *a, struct ib_udata *u)
{
	int err = orig_query(ib, a, u);

	if (!err && ib->dev.parent) {
		a->vendor_id = ib->attrs.vendor_id;
		a->vendor_part_id = ib->attrs.vendor_part_id;
		a->hw_ver = ib->attrs.hw_ver;
		a->fw_ver = ib->attrs.fw_ver;
	}
	return err;
}

static int add_one(struct ib_device *ib)
{
	struct net_device *nd = ib_device_get_netdev(ib, 1);
	struct device *parent;

	if (!nd)
		return 0;
	parent = nd->dev.parent;
	if (parent && dev_is_pci(parent) && !ib->dev.parent) {
		struct pci_dev *pdev = to_pci_dev(parent);

		ib->attrs.vendor_id = pdev->vendor;
		ib->attrs.vendor_part_id = pdev->device;
		ib->attrs.hw_ver = pdev->revision;
		ib->attrs.fw_ver = (1ULL << 32) | (72 << 16);
		if (device_move(&ib->dev, parent, DPM_ORDER_NONE))
			dev_warn(&ib->dev, "device_move failed\n");
		if (ib->ops.driver_id == RDMA_DRIVER_RXE) {	/* one function for all rxe devices */
			orig_query = ib->ops.query_device;
			ib->ops.query_device = query_device;
		}
	}
	dev_put(nd);
	return 0;
}

static void remove_one(struct ib_device *ib, void *data)
{
	if (ib->ops.query_device == query_device)
		ib->ops.query_device = orig_query;
}

static struct ib_client client = { .name = "nicsim_rdma", .add = add_one, .remove = remove_one };

static int __init m_init(void) { return ib_register_client(&client); }
static void __exit m_exit(void) { ib_unregister_client(&client); }
module_init(m_init);
module_exit(m_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PCI identity for rxe devices in tests");
