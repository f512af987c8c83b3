// SPDX-License-Identifier: GPL-2.0
/*
 * nicsim - test-only simulated DCB NICs.
 *
 * Creates a software PCI root bus (its own domain) with one function per entry of funcs=, e.g.
 *   insmod nicsim.ko funcs=8086:1592:ice,8086:1592:ice,15b3:101d:mlx5_core,15b3:101d:mlx5_core
 * Each function is probed by a pci_driver of the given name and gets a net device (nic0, nic1, ...).
 * Functions 2k and 2k+1 are cabled back to back like a veth pair. Every net device implements dcbnl
 * (ETS, PFC, APP, DCBX, buffer), ethtool (drvinfo, pause, private flags, statistics, link) and devlink
 * (generic params enable_roce, enable_iwarp; info). Knobs live in debugfs nicsim/<pci address>/.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/netdevice.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/rtnetlink.h>
#include <linux/debugfs.h>
#include <linux/ip.h>
#include <net/dcbnl.h>
#include <net/devlink.h>

#define MAXF 16
#define NTC 8
#define PCIE_CAP 0x40

static char *funcs[MAXF];
static int nfuncs;
module_param_array(funcs, charp, &nfuncs, 0444);
MODULE_PARM_DESC(funcs, "vendor:device:driver, in hex:hex:name, one per function");
static uint busnr = 0x3b;		/* PCI addresses become 0000:3b:00.N */
module_param(busnr, uint, 0444);
static char *fw_version = "4.40 0x8001c967 1.3534.0";
module_param(fw_version, charp, 0444);

struct func {				/* one PCI function, before and after probe */
	u8 cfg[256];
	u16 vendor, device;
	char drvname[32];
	struct pci_driver drv;
	bool drv_registered;
	struct net_device *ndev;
};

struct sim {				/* netdev_priv */
	struct func *f;
	struct net_device *ndev;
	struct net_device __rcu *peer;
	struct pci_dev *pdev;
	struct devlink *devlink;
	struct dentry *dbg;
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct dcbnl_buffer buf;
	u8 dcbx;
	u32 ets_errno, pfc_errno, speed;
	u32 rx_pause, tx_pause, autoneg_pause, priv_flags;
	u64 tx_packets, tx_bytes, rx_packets, rx_bytes;
	u64 xoff_rx[NTC], xoff_tx[NTC], rx_prio[NTC], tx_prio[NTC], discards;
	bool enable_roce, enable_iwarp;
};

static struct func fn[MAXF];
/* devfn is the index: function i sits at slot i / 8, function i % 8. */
static int fidx(unsigned int devfn) { return devfn; }
static struct pci_bus *bus;
static struct dentry *dbg_root;

/* ---------------------------------------------------------------- PCI config space */

static void cfg_init(struct func *f)
{
	u8 *c = f->cfg;

	put_unaligned_le16(f->vendor, c + PCI_VENDOR_ID);
	put_unaligned_le16(f->device, c + PCI_DEVICE_ID);
	put_unaligned_le16(PCI_STATUS_CAP_LIST, c + PCI_STATUS);
	c[PCI_REVISION_ID] = 2;
	put_unaligned_le16(PCI_CLASS_NETWORK_ETHERNET, c + PCI_CLASS_DEVICE);
	c[PCI_HEADER_TYPE] = 0x80;	/* multi-function */
	put_unaligned_le16(f->vendor, c + PCI_SUBSYSTEM_VENDOR_ID);
	put_unaligned_le16(2, c + PCI_SUBSYSTEM_ID);
	c[PCI_CAPABILITY_LIST] = PCIE_CAP;
	c[PCIE_CAP] = PCI_CAP_ID_EXP;	/* PCIe v2 endpoint, Gen4 x16 */
	put_unaligned_le16(2 | (PCI_EXP_TYPE_ENDPOINT << 4), c + PCIE_CAP + PCI_EXP_FLAGS);
	put_unaligned_le32(PCI_EXP_LNKCAP_SLS_16_0GB | (16 << 4), c + PCIE_CAP + PCI_EXP_LNKCAP);
	put_unaligned_le16(PCI_EXP_LNKSTA_CLS_16_0GB | (16 << 4), c + PCIE_CAP + PCI_EXP_LNKSTA);
	put_unaligned_le32(0x1e, c + PCIE_CAP + PCI_EXP_LNKCAP2);
}

static int cfg_read(struct pci_bus *b, unsigned int devfn, int where, int size, u32 *val)
{
	int i;

	*val = ~0;
	if (b->parent)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (fidx(devfn) >= nfuncs || where + size > 256)
		return PCIBIOS_SUCCESSFUL;
	*val = 0;
	for (i = 0; i < size; i++)
		*val |= fn[fidx(devfn)].cfg[where + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int cfg_write(struct pci_bus *b, unsigned int devfn, int where, int size, u32 val)
{
	if (fidx(devfn) < nfuncs && where == PCI_COMMAND)
		put_unaligned_le16(val, fn[fidx(devfn)].cfg + PCI_COMMAND);
	return PCIBIOS_SUCCESSFUL;	/* BARs and the rest are read-only: no memory decoded */
}

static struct pci_ops cfg_ops = { .read = cfg_read, .write = cfg_write };

/* ---------------------------------------------------------------- DCB */

static int sim_getets(struct net_device *d, struct ieee_ets *e)
{
	struct sim *s = netdev_priv(d);

	if (s->ets_errno)
		return -(int)s->ets_errno;
	*e = s->ets;
	return 0;
}

static int sim_setets(struct net_device *d, struct ieee_ets *e)
{
	struct sim *s = netdev_priv(d);
	int i, bw = 0;
	bool any = false;

	for (i = 0; i < NTC; i++) {
		if (e->prio_tc[i] >= NTC)
			return -EINVAL;
		if (e->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			any = true;
			bw += e->tc_tx_bw[i];
		}
	}
	if (any && bw != 100)
		return -EINVAL;
	s->ets = *e;
	s->ets.ets_cap = NTC;
	return 0;
}

static int sim_getpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct sim *s = netdev_priv(d);
	int i;

	if (s->pfc_errno)
		return -(int)s->pfc_errno;
	*p = s->pfc;
	for (i = 0; i < NTC; i++) {
		p->requests[i] = s->xoff_tx[i];
		p->indications[i] = s->xoff_rx[i];
	}
	return 0;
}

static int sim_setpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct sim *s = netdev_priv(d);

	if (p->pfc_en && (s->rx_pause || s->tx_pause))	/* as ice and mlx5: not both */
		return -EBUSY;
	s->pfc.pfc_en = p->pfc_en;
	s->pfc.mbc = p->mbc;
	s->pfc.delay = p->delay;
	return 0;
}

static int sim_setapp(struct net_device *d, struct dcb_app *a) { return dcb_ieee_setapp(d, a); }
static int sim_delapp(struct net_device *d, struct dcb_app *a) { return dcb_ieee_delapp(d, a); }
static u8 sim_getdcbx(struct net_device *d) { return ((struct sim *)netdev_priv(d))->dcbx; }

static u8 sim_setdcbx(struct net_device *d, u8 mode)
{
	if (!(mode & DCB_CAP_DCBX_VER_IEEE) || (mode & DCB_CAP_DCBX_VER_CEE))
		return 1;
	((struct sim *)netdev_priv(d))->dcbx = mode;
	return 0;
}

static int sim_getbuffer(struct net_device *d, struct dcbnl_buffer *b)
{
	*b = ((struct sim *)netdev_priv(d))->buf;
	return 0;
}

static int sim_setbuffer(struct net_device *d, struct dcbnl_buffer *b)
{
	((struct sim *)netdev_priv(d))->buf = *b;
	return 0;
}

static const struct dcbnl_rtnl_ops sim_dcbnl_ops = {
	.ieee_getets = sim_getets, .ieee_setets = sim_setets,
	.ieee_getpfc = sim_getpfc, .ieee_setpfc = sim_setpfc,
	.ieee_setapp = sim_setapp, .ieee_delapp = sim_delapp,
	.getdcbx = sim_getdcbx, .setdcbx = sim_setdcbx,
	.dcbnl_getbuffer = sim_getbuffer, .dcbnl_setbuffer = sim_setbuffer,
};

/* ---------------------------------------------------------------- net device */

static int frame_prio(struct net_device *d, struct sk_buff *skb)
{
	struct dcb_app app = { .selector = IEEE_8021QAZ_APP_SEL_DSCP };
	struct iphdr *ip = (struct iphdr *)(skb->data + ETH_HLEN);
	u8 mask;

	if (skb->len < ETH_HLEN + sizeof(*ip) || skb->protocol != htons(ETH_P_IP))
		return 0;
	app.protocol = ip->tos >> 2;
	mask = dcb_ieee_getapp_mask(d, &app);
	return mask ? __fls(mask) : 0;
}

static netdev_tx_t sim_xmit(struct sk_buff *skb, struct net_device *d)
{
	struct sim *s = netdev_priv(d), *ps;
	struct net_device *peer;
	unsigned int len = skb->len;
	int prio = frame_prio(d, skb);

	rcu_read_lock();
	peer = rcu_dereference(s->peer);
	skb_tx_timestamp(skb);
	if (!peer || dev_forward_skb(peer, skb) != NET_RX_SUCCESS) {
		if (!peer)
			kfree_skb(skb);
		s->discards++;
		goto out;
	}
	ps = netdev_priv(peer);
	s->tx_packets++; s->tx_bytes += len; s->tx_prio[prio]++;
	ps->rx_packets++; ps->rx_bytes += len; ps->rx_prio[prio]++;
out:
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

static void sim_carrier(struct net_device *d)
{
	struct net_device *peer = rtnl_dereference(((struct sim *)netdev_priv(d))->peer);

	if (peer && netif_running(d) && netif_running(peer)) {
		netif_carrier_on(d);
		netif_carrier_on(peer);
	} else {
		netif_carrier_off(d);
		if (peer)
			netif_carrier_off(peer);
	}
}

static int sim_open(struct net_device *d) { netif_start_queue(d); sim_carrier(d); return 0; }
static int sim_stop(struct net_device *d) { netif_stop_queue(d); sim_carrier(d); return 0; }

static void sim_stats64(struct net_device *d, struct rtnl_link_stats64 *st)
{
	struct sim *s = netdev_priv(d);

	st->tx_packets = s->tx_packets; st->tx_bytes = s->tx_bytes;
	st->rx_packets = s->rx_packets; st->rx_bytes = s->rx_bytes; st->tx_dropped = s->discards;
}

static const struct net_device_ops sim_ndo = {
	.ndo_open = sim_open, .ndo_stop = sim_stop, .ndo_start_xmit = sim_xmit,
	.ndo_get_stats64 = sim_stats64, .ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

/* ---------------------------------------------------------------- ethtool */

static const char * const sim_priv_names[] = { "fw-lldp-agent", "link-down-on-close", "legacy-rx" };
#define NPRIV ARRAY_SIZE(sim_priv_names)
#define NSTATS (1 + 4 * NTC)

static void sim_drvinfo(struct net_device *d, struct ethtool_drvinfo *i)
{
	struct sim *s = netdev_priv(d);

	strscpy(i->driver, s->f->drvname, sizeof(i->driver));
	strscpy(i->fw_version, fw_version, sizeof(i->fw_version));
	strscpy(i->bus_info, pci_name(s->pdev), sizeof(i->bus_info));
	i->n_priv_flags = NPRIV;
}

static int sim_sset_count(struct net_device *d, int sset)
{
	return sset == ETH_SS_STATS ? NSTATS : sset == ETH_SS_PRIV_FLAGS ? NPRIV : -EOPNOTSUPP;
}

static void sim_strings(struct net_device *d, u32 sset, u8 *p)
{
	int i;

	if (sset == ETH_SS_PRIV_FLAGS) {
		for (i = 0; i < NPRIV; i++)
			ethtool_puts(&p, sim_priv_names[i]);
		return;
	}
	ethtool_puts(&p, "rx_discards_phy");
	for (i = 0; i < NTC; i++) {
		ethtool_sprintf(&p, "rx_priority_%d_xoff.nic", i);
		ethtool_sprintf(&p, "tx_priority_%d_xoff.nic", i);
		ethtool_sprintf(&p, "rx_prio%d_packets", i);
		ethtool_sprintf(&p, "tx_prio%d_packets", i);
	}
}

static void sim_stats(struct net_device *d, struct ethtool_stats *st, u64 *v)
{
	struct sim *s = netdev_priv(d);
	int i;

	*v++ = s->discards;
	for (i = 0; i < NTC; i++) {
		*v++ = s->xoff_rx[i]; *v++ = s->xoff_tx[i]; *v++ = s->rx_prio[i]; *v++ = s->tx_prio[i];
	}
}

static u32 sim_get_priv(struct net_device *d) { return ((struct sim *)netdev_priv(d))->priv_flags; }

static int sim_set_priv(struct net_device *d, u32 f)
{
	struct sim *s = netdev_priv(d);

	s->priv_flags = f;		/* firmware LLDP agent on = firmware owns DCBX, as ice */
	s->dcbx = DCB_CAP_DCBX_VER_IEEE | (f & 1 ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
	return 0;
}

static void sim_get_pause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct sim *s = netdev_priv(d);

	p->autoneg = s->autoneg_pause; p->rx_pause = s->rx_pause; p->tx_pause = s->tx_pause;
}

static int sim_set_pause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct sim *s = netdev_priv(d);

	if (s->pfc.pfc_en && (p->rx_pause || p->tx_pause))
		return -EOPNOTSUPP;
	s->autoneg_pause = p->autoneg; s->rx_pause = p->rx_pause; s->tx_pause = p->tx_pause;
	return 0;
}

static int sim_ksettings(struct net_device *d, struct ethtool_link_ksettings *k)
{
	k->base.speed = netif_carrier_ok(d) ? ((struct sim *)netdev_priv(d))->speed : SPEED_UNKNOWN;
	k->base.duplex = DUPLEX_FULL;
	k->base.port = PORT_DA;
	return 0;
}

static const struct ethtool_ops sim_ethtool = {
	.get_drvinfo = sim_drvinfo, .get_link = ethtool_op_get_link, .get_link_ksettings = sim_ksettings,
	.get_sset_count = sim_sset_count, .get_strings = sim_strings, .get_ethtool_stats = sim_stats,
	.get_priv_flags = sim_get_priv, .set_priv_flags = sim_set_priv,
	.get_pauseparam = sim_get_pause, .set_pauseparam = sim_set_pause,
};

/* ---------------------------------------------------------------- devlink */

static bool *param_of(struct devlink *dl, u32 id)
{
	struct sim *s = *(struct sim **)devlink_priv(dl);

	return id == DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE ? &s->enable_roce : &s->enable_iwarp;
}

static int param_get(struct devlink *dl, u32 id, struct devlink_param_gset_ctx *ctx)
{
	ctx->val.vbool = *param_of(dl, id);
	return 0;
}

static int param_set(struct devlink *dl, u32 id, struct devlink_param_gset_ctx *ctx, struct netlink_ext_ack *e)
{
	*param_of(dl, id) = ctx->val.vbool;
	return 0;
}

static const struct devlink_param sim_params[] = {	/* runtime mode, as the ice driver */
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_RUNTIME), param_get, param_set, NULL),
	DEVLINK_PARAM_GENERIC(ENABLE_IWARP, BIT(DEVLINK_PARAM_CMODE_RUNTIME), param_get, param_set, NULL),
};

static int sim_info(struct devlink *dl, struct devlink_info_req *req, struct netlink_ext_ack *e)
{
	return devlink_info_version_running_put(req, DEVLINK_INFO_VERSION_GENERIC_FW, fw_version);
}

static const struct devlink_ops sim_devlink_ops = { .info_get = sim_info };

/* ---------------------------------------------------------------- probe / remove */

static void sim_debugfs(struct sim *s)
{
	char n[24];
	int i;

	s->dbg = debugfs_create_dir(pci_name(s->pdev), dbg_root);
	debugfs_create_u32("ets_errno", 0644, s->dbg, &s->ets_errno);
	debugfs_create_u32("pfc_errno", 0644, s->dbg, &s->pfc_errno);
	debugfs_create_u32("speed", 0644, s->dbg, &s->speed);
	debugfs_create_u64("rx_discards_phy", 0644, s->dbg, &s->discards);
	for (i = 0; i < NTC; i++) {
		snprintf(n, sizeof(n), "rx_priority_%d_xoff", i);
		debugfs_create_u64(n, 0644, s->dbg, &s->xoff_rx[i]);
		snprintf(n, sizeof(n), "tx_priority_%d_xoff", i);
		debugfs_create_u64(n, 0644, s->dbg, &s->xoff_tx[i]);
	}
}

static int sim_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct func *f = &fn[fidx(pdev->devfn)];
	struct net_device *d, *peer;
	struct sim *s;
	int err, i;

	if (pdev->bus->ops != &cfg_ops || strcmp(pdev->dev.driver->name, f->drvname))
		return -ENODEV;		/* not ours, or another driver name's function */
	d = alloc_etherdev(sizeof(*s));
	if (!d)
		return -ENOMEM;
	s = netdev_priv(d);
	s->f = f; s->ndev = d; s->pdev = pdev; s->speed = SPEED_100000;
	s->dcbx = DCB_CAP_DCBX_VER_IEEE | DCB_CAP_DCBX_HOST;
	s->ets.ets_cap = NTC; s->pfc.pfc_cap = NTC;
	for (i = 0; i < NTC; i++)
		s->ets.tc_tx_bw[i] = i ? 0 : 100;
	s->ets.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
	s->enable_iwarp = false; s->enable_roce = true;
	SET_NETDEV_DEV(d, &pdev->dev);
	strscpy(d->name, "nic%d", sizeof(d->name));
	d->netdev_ops = &sim_ndo; d->ethtool_ops = &sim_ethtool; d->dcbnl_ops = &sim_dcbnl_ops;
	d->max_mtu = 9702;
	d->hw_features = d->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA | NETIF_F_GSO_SOFTWARE;
	eth_hw_addr_random(d);
	netif_carrier_off(d);
	s->devlink = devlink_alloc(&sim_devlink_ops, sizeof(s), &pdev->dev);
	if (!s->devlink) {
		free_netdev(d);
		return -ENOMEM;
	}
	*(struct sim **)devlink_priv(s->devlink) = s;
	err = register_netdev(d);
	if (err) {
		devlink_free(s->devlink);
		free_netdev(d);
		return err;
	}
	f->ndev = d;
	rtnl_lock();
	peer = fn[fidx(pdev->devfn) ^ 1].ndev;
	if (peer) {
		rcu_assign_pointer(s->peer, peer);
		rcu_assign_pointer(((struct sim *)netdev_priv(peer))->peer, d);
	}
	rtnl_unlock();
	if (devlink_params_register(s->devlink, sim_params, ARRAY_SIZE(sim_params)))
		pci_warn(pdev, "no devlink params\n");
	devlink_register(s->devlink);
	pci_set_drvdata(pdev, s);
	sim_debugfs(s);
	return 0;
}

static void sim_remove(struct pci_dev *pdev)
{
	struct sim *s = pci_get_drvdata(pdev);
	struct net_device *peer;

	debugfs_remove_recursive(s->dbg);
	devlink_unregister(s->devlink);
	devlink_params_unregister(s->devlink, sim_params, ARRAY_SIZE(sim_params));
	rtnl_lock();
	peer = rtnl_dereference(s->peer);
	if (peer) {
		RCU_INIT_POINTER(((struct sim *)netdev_priv(peer))->peer, NULL);
		RCU_INIT_POINTER(s->peer, NULL);
		netif_carrier_off(peer);
	}
	rtnl_unlock();
	unregister_netdev(s->ndev);
	s->f->ndev = NULL;
	devlink_free(s->devlink);
	free_netdev(s->ndev);
}


static const struct pci_device_id sim_ids[] = {
	{ PCI_DEVICE_CLASS(PCI_CLASS_NETWORK_ETHERNET << 8, ~0) }, { }
};

static struct pci_sysdata sysdata = { .node = NUMA_NO_NODE };

static void drop_all(void)
{
	int i;

	if (bus) {
		pci_lock_rescan_remove();
		pci_stop_root_bus(bus);
		pci_remove_root_bus(bus);
		pci_unlock_rescan_remove();
	}
	for (i = 0; i < nfuncs; i++)
		if (fn[i].drv_registered)
			pci_unregister_driver(&fn[i].drv);
	debugfs_remove_recursive(dbg_root);
}

static int __init sim_init(void)
{
	LIST_HEAD(res);
	unsigned int ven, dev;
	int i, j, err;

	if (!nfuncs) {
		funcs[0] = funcs[1] = "8086:1592:ice";
		nfuncs = 2;
	}
	dbg_root = debugfs_create_dir("nicsim", NULL);
	for (i = 0; i < nfuncs; i++) {
		struct func *f = &fn[i];

		if (sscanf(funcs[i], "%x:%x:%31s", &ven, &dev, f->drvname) != 3) {
			err = -EINVAL;
			goto fail;
		}
		f->vendor = ven; f->device = dev;
		cfg_init(f);
		for (j = 0; j < i && strcmp(fn[j].drvname, f->drvname); j++)
			;
		if (j < i)		/* that name is registered already */
			continue;
		f->drv.name = f->drvname; f->drv.probe = sim_probe; f->drv.remove = sim_remove;
		f->drv.id_table = sim_ids;
		err = pci_register_driver(&f->drv);
		if (err)
			goto fail;
		f->drv_registered = true;
	}
	pci_lock_rescan_remove();
	bus = pci_scan_root_bus(NULL, busnr, &cfg_ops, &sysdata, &res);
	if (bus)
		pci_bus_add_devices(bus);
	pci_unlock_rescan_remove();
	if (bus)
		return 0;
	err = -ENODEV;
fail:
	drop_all();
	return err;
}

static void __exit sim_exit(void) { drop_all(); }

module_init(sim_init);
module_exit(sim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Simulated DCB NICs for tests");
