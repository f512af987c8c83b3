// SPDX-License-Identifier: GPL-2.0
/*
 * nicsim_rdma: makes an rxe device on a nicsim net device look like the RDMA device of that PCI function. README.md
 * says what it changes; traffic stays rxe's own.
 */
#include <linux/auxiliary_bus.h>
#include <linux/module.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>
#include "nicsim.h"

static bool no_srq = true;
module_param(no_srq, bool, 0644);
MODULE_PARM_DESC(no_srq, "devices on ice functions have no shared receive queue, as irdma on E810 (at link add)");
static bool driver_id;
module_param(driver_id, bool, 0644);
MODULE_PARM_DESC(driver_id, "report irdma's or mlx5's driver id; verbs and traffic do not work then (at link add)");

struct sim_dev {
	struct nicsim_rdma_desc desc;
	struct pci_dev *pdev;
	struct ib_device_ops ops;	/* rxe's own, given back on removal */
	u8 node_type;
	u32 cap_flags;
	bool no_srq;
};

static struct ib_client client;

static struct sim_dev *sim_of(struct ib_device *ib)
{
	return ib_get_client_data(ib, &client);
}

/* ---------------------------------------------------------------- attributes */

static void set_attrs(const struct sim_dev *sd, struct ib_device_attr *a)
{
	a->vendor_id = sd->pdev->vendor;
	a->vendor_part_id = sd->pdev->device;
	a->hw_ver = sd->pdev->revision;
	a->fw_ver = sd->desc.kind == NICSIM_MLX5 ? (22ULL << 32) | (39 << 16) | 2048 : (1ULL << 32) | (72 << 16);
	if (sd->no_srq) {
		a->max_srq = 0;
		a->max_srq_sge = 0;
	}
}

static int query_device(struct ib_device *ib, struct ib_device_attr *a, struct ib_udata *u)
{
	struct sim_dev *sd = sim_of(ib);
	int err = sd->ops.query_device(ib, a, u);

	if (!err)
		set_attrs(sd, a);
	return err;
}

/* irdma: lid 1, and the MTU without room for headers. mlx5: the MTU that rdma_cm also uses. */
static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *a)
{
	struct sim_dev *sd = sim_of(ib);
	int err = sd->ops.query_port(ib, port, a);
	struct net_device *nd;

	if (err)
		return err;
	nd = ib_device_get_netdev(ib, port);
	if (!nd)
		return 0;
	if (sd->desc.kind == NICSIM_ICE) {
		a->lid = 1;
		a->active_mtu = ib_mtu_int_to_enum(nd->mtu);
	} else if (sd->desc.kind == NICSIM_MLX5) {
		a->active_mtu = iboe_get_mtu(nd->mtu);
	}
	dev_put(nd);
	return 0;
}

static void get_fw_str(struct ib_device *ib, char *str)
{
	u64 v = ib->attrs.fw_ver;

	if (sim_of(ib)->desc.kind == NICSIM_MLX5)
		snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", (u16)(v >> 32), (u16)(v >> 16), (u16)v);
	else
		snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u", (u16)(v >> 32), (u16)(v >> 16));
}

static int create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *u)
{
	return -EOPNOTSUPP;
}

/* ---------------------------------------------------------------- iWARP: names only, no connections */

static int iw_refuse(struct iw_cm_id *id, struct iw_cm_conn_param *param)
{
	return -EOPNOTSUPP;
}

static int iw_refuse_reject(struct iw_cm_id *id, const void *data, u8 len)
{
	return -EOPNOTSUPP;
}

static int iw_refuse_listen(struct iw_cm_id *id, int backlog)
{
	return -EOPNOTSUPP;
}

static int iw_no_listen(struct iw_cm_id *id)
{
	return 0;
}

static void iw_no_ref(struct ib_qp *qp)
{
}

static struct ib_qp *iw_no_qp(struct ib_device *ib, int qpn)
{
	return NULL;
}

static void show_iwarp(struct ib_device *ib)
{
	ib->ops.iw_connect = iw_refuse;
	ib->ops.iw_accept = iw_refuse;
	ib->ops.iw_reject = iw_refuse_reject;
	ib->ops.iw_create_listen = iw_refuse_listen;
	ib->ops.iw_destroy_listen = iw_no_listen;
	ib->ops.iw_add_ref = iw_no_ref;
	ib->ops.iw_rem_ref = iw_no_ref;
	ib->ops.iw_get_qp = iw_no_qp;
	ib->node_type = RDMA_NODE_RNIC;
	ib->port_data[1].immutable.core_cap_flags = RDMA_CORE_PORT_IWARP;
}

/* ---------------------------------------------------------------- ib client */

static int add_one(struct ib_device *ib)
{
	struct net_device *nd;
	struct device *parent;
	struct sim_dev *sd;

	if (ib->ops.driver_id != RDMA_DRIVER_RXE)
		return 0;
	nd = ib_device_get_netdev(ib, 1);
	if (!nd)
		return 0;
	parent = nd->dev.parent;
	dev_put(nd);
	if (!parent || !dev_is_pci(parent))
		return 0;
	sd = kzalloc(sizeof(*sd), GFP_KERNEL);
	if (!sd)
		return -ENOMEM;
	sd->pdev = to_pci_dev(parent);
	if (nicsim_rdma_describe(sd->pdev, &sd->desc)) {
		kfree(sd);
		return 0;
	}
	sd->ops = ib->ops;
	sd->node_type = ib->node_type;
	sd->cap_flags = ib->port_data[1].immutable.core_cap_flags;
	sd->no_srq = no_srq && sd->desc.kind == NICSIM_ICE;
	ib_set_client_data(ib, &client, sd);
	if (ib->dev.parent != parent && device_move(&ib->dev, parent, DPM_ORDER_NONE))
		dev_warn(&ib->dev, "device_move failed\n");
	set_attrs(sd, &ib->attrs);
	ib->ops.query_device = query_device;
	ib->ops.query_port = query_port;
	ib->ops.get_dev_fw_str = get_fw_str;
	if (sd->no_srq)
		ib->ops.create_srq = create_srq;
	if (sd->desc.iwarp)
		show_iwarp(ib);
	if (driver_id && sd->desc.kind != NICSIM_PLAIN)
		ib->ops.driver_id = sd->desc.kind == NICSIM_ICE ? RDMA_DRIVER_IRDMA : RDMA_DRIVER_MLX5;
	nicsim_rdma_use(sd->pdev, 1);
	return 0;
}

static void remove_one(struct ib_device *ib, void *data)
{
	struct sim_dev *sd = data;

	if (!sd)
		return;
	ib->ops = sd->ops;
	ib->node_type = sd->node_type;
	ib->port_data[1].immutable.core_cap_flags = sd->cap_flags;
	nicsim_rdma_use(sd->pdev, -1);
	kfree(sd);
}

static struct ib_client client = { .name = "nicsim_rdma", .add = add_one, .remove = remove_one };

/* rxe finds its device by net device and driver id: give the id back before rxe handles the end of the net device. */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *nd = netdev_notifier_info_to_dev(ptr);
	struct ib_device *ib;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	ib = ib_device_get_by_netdev(nd, RDMA_DRIVER_UNKNOWN);
	if (!ib)
		return NOTIFY_DONE;
	if (sim_of(ib))
		ib->ops.driver_id = RDMA_DRIVER_RXE;
	ib_device_put(ib);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_event, .priority = INT_MAX };

/* ---------------------------------------------------------------- the driver of ice.roce.N, mlx5_core.rdma.N */

static int aux_probe(struct auxiliary_device *adev, const struct auxiliary_device_id *id)
{
	return 0;
}

static const struct auxiliary_device_id irdma_ids[] = { { .name = "ice.roce" }, { .name = "ice.iwarp" }, { } };
static const struct auxiliary_device_id mlx5_ids[] = { { .name = "mlx5_core.rdma" }, { } };
static struct auxiliary_driver irdma = { .name = "irdma", .probe = aux_probe, .id_table = irdma_ids };
static struct auxiliary_driver mlx5_ib = { .name = "rdma", .probe = aux_probe, .id_table = mlx5_ids };

static int __init nicsim_rdma_init(void)
{
	int err = ib_register_client(&client);

	if (err)
		return err;
	err = __auxiliary_driver_register(&irdma, THIS_MODULE, "irdma");
	if (err)
		goto client;
	err = __auxiliary_driver_register(&mlx5_ib, THIS_MODULE, "mlx5_ib");
	if (err)
		goto irdma;
	err = register_netdevice_notifier(&netdev_nb);
	if (err)
		goto mlx5;
	return 0;
mlx5:
	auxiliary_driver_unregister(&mlx5_ib);
irdma:
	auxiliary_driver_unregister(&irdma);
client:
	ib_unregister_client(&client);
	return err;
}

static void __exit nicsim_rdma_exit(void)
{
	unregister_netdevice_notifier(&netdev_nb);
	auxiliary_driver_unregister(&mlx5_ib);
	auxiliary_driver_unregister(&irdma);
	ib_unregister_client(&client);
}

module_init(nicsim_rdma_init);
module_exit(nicsim_rdma_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PCI identity of rxe devices on simulated NICs");
