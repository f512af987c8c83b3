// SPDX-License-Identifier: GPL-2.0
/* Module parameters, probe and remove of the simulated NICs. */
#include <linux/debugfs.h>
#include <linux/etherdevice.h>
#include <linux/module.h>
#include "nicsim.h"

static char *funcs[NICSIM_MAX_FUNCS];
module_param_array(funcs, charp, &nicsim_nfuncs, 0444);
MODULE_PARM_DESC(funcs, "NICs: vendor:device:driver[@BB:DD.F], ids in hex; 2k and 2k+1 are cabled back to back");
static char *tree[NICSIM_MAX_TREE];
static int ntree;
module_param_array(tree, charp, &ntree, 0444);
MODULE_PARM_DESC(tree, "BB:DD.F=root|up|down:SEC-SUB[/ACS] or BB:DD.F=vendor:device:class[/BAR1BITS]");
static uint busnr = 0x3b;
module_param(busnr, uint, 0444);
MODULE_PARM_DESC(busnr, "bus of the NICs that name no address");
static int node = NUMA_NO_NODE;
module_param(node, int, 0444);
MODULE_PARM_DESC(node, "NUMA node of every function");
static uint safe_mode;
module_param(safe_mode, uint, 0644);
MODULE_PARM_DESC(safe_mode, "bit mask of ice functions that enter safe mode at their next probe");
static uint fw_lldp;
module_param(fw_lldp, uint, 0444);
MODULE_PARM_DESC(fw_lldp, "bit mask of ice functions whose firmware LLDP agent runs at first");

struct nicsim_func nicsim_func[NICSIM_MAX_FUNCS];
int nicsim_nfuncs;
static struct pci_driver drivers[NICSIM_MAX_FUNCS];
static int ndrivers;
static struct dentry *dbg_root;

static struct nicsim_func *func_of(struct pci_dev *pdev)
{
	int i;

	if (pdev->bus->ops != &nicsim_pci_ops)
		return NULL;
	for (i = 0; i < nicsim_nfuncs; i++)
		if (nicsim_func[i].obj->bus == pdev->bus->number && nicsim_func[i].obj->devfn == pdev->devfn)
			return &nicsim_func[i];
	return NULL;
}

/* A card is what shares a PCI slot. ice has 8 TCs and RDMA up to four functions, 4 TCs and no RDMA above. */
static int card_functions(const struct nicsim_func *f)
{
	int i, n = 0;

	for (i = 0; i < nicsim_nfuncs; i++)
		n += nicsim_func[i].kind == f->kind && nicsim_func[i].obj->bus == f->obj->bus &&
		     PCI_SLOT(nicsim_func[i].obj->devfn) == PCI_SLOT(f->obj->devfn);
	return n;
}

static void setup_kind(struct nicsim *s)
{
	struct net_device *d = s->ndev;

	s->max_tc = IEEE_8021QAZ_MAX_TCS;
	s->rdma_capable = true;
	s->roce = true;
	switch (s->f->kind) {
	case NICSIM_ICE:
		s->safe_mode = safe_mode & BIT(s->f - nicsim_func);
		if (card_functions(s->f) > 4) {
			s->max_tc = 4;
			s->rdma_capable = false;
			pci_info(s->pdev,
				 "RDMA functionality is not available with the current device configuration.\n");
		}
		if (s->safe_mode) {
			pci_err(s->pdev,
				"The DDP package file was not found or could not be read. Entering Safe Mode\n");
			s->rdma_capable = false;
			s->channels = 1;
			d->ethtool_ops = &nicsim_ethtool_ice_safe;
		} else {
			d->ethtool_ops = &nicsim_ethtool_ice;
			d->dcbnl_ops = &nicsim_ice_dcbnl;
			nicsim_ice_init(s);
		}
		s->roce = s->rdma_capable;
		break;
	case NICSIM_MLX5:
		d->ethtool_ops = &nicsim_ethtool_mlx5;
		d->dcbnl_ops = &nicsim_mlx5_dcbnl;
		nicsim_mlx5_init(s);
		break;
	default:
		s->rdma_capable = s->roce = false;
		d->ethtool_ops = &nicsim_ethtool;
	}
}

static void setup_address(struct nicsim *s)
{
	u8 addr[ETH_ALEN] = { 0xb4, 0x96, 0x91, 0x00, s->f->obj->bus, s->f->obj->devfn };

	if (s->f->kind == NICSIM_MLX5) {
		addr[0] = 0xb8; addr[1] = 0xce; addr[2] = 0xf6;
	}
	eth_hw_addr_set(s->ndev, addr);
}

static int nicsim_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nicsim_func *f = func_of(pdev);
	struct net_device *d;
	struct nicsim *s;
	int err;

	if (!f || strcmp(pdev->dev.driver->name, f->drvname))
		return -ENODEV;		/* not ours, or another driver name's function */
	d = alloc_etherdev(sizeof(*s));
	if (!d)
		return -ENOMEM;
	s = netdev_priv(d);
	s->f = f;
	s->ndev = d;
	s->pdev = pdev;
	s->speed = SPEED_100000;
	s->channels = num_online_cpus();
	SET_NETDEV_DEV(d, &pdev->dev);
	snprintf(d->name, sizeof(d->name), "nic%d", (int)(f - nicsim_func));
	d->netdev_ops = &nicsim_ndo;
	d->max_mtu = 9702;
	d->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	d->features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA | NETIF_F_GSO_SOFTWARE;
	d->hw_features = d->features;
	setup_kind(s);
	setup_address(s);
	nicsim_stats_init(s);
	netif_carrier_off(d);
	err = nicsim_devlink_init(s);
	if (err)
		goto free;
	err = register_netdev(d);
	if (err)
		goto devlink;
	f->ndev = d;
	pci_set_drvdata(pdev, s);
	nicsim_cable(s, nicsim_func[(f - nicsim_func) ^ 1].ndev);
	nicsim_debugfs_init(s);
	return 0;
devlink:
	nicsim_devlink_exit(s);
free:
	free_netdev(d);
	return err;
}

static void nicsim_remove(struct pci_dev *pdev)
{
	struct nicsim *s = pci_get_drvdata(pdev);

	nicsim_debugfs_exit(s);
	nicsim_uncable(s);
	s->f->ndev = NULL;
	unregister_netdev(s->ndev);
	nicsim_devlink_exit(s);
	free_netdev(s->ndev);
}

int nicsim_rdma_describe(struct pci_dev *pdev, struct nicsim_rdma_desc *desc)
{
	struct nicsim_func *f = func_of(pdev);
	struct nicsim *s = f && f->ndev ? netdev_priv(f->ndev) : NULL;

	if (!s)
		return -ENODEV;
	desc->kind = f->kind;
	desc->iwarp = s->iwarp && !s->roce;
	return 0;
}
EXPORT_SYMBOL_GPL(nicsim_rdma_describe);

void nicsim_rdma_use(struct pci_dev *pdev, int delta)
{
	struct nicsim_func *f = func_of(pdev);

	if (f && f->ndev)
		atomic_add(delta, &((struct nicsim *)netdev_priv(f->ndev))->rdma_users);
}
EXPORT_SYMBOL_GPL(nicsim_rdma_use);

/* ---------------------------------------------------------------- load and unload */

static const struct pci_device_id nicsim_ids[] = {
	{ PCI_DEVICE_CLASS(PCI_CLASS_NETWORK_ETHERNET << 8, ~0) }, { }
};

static int add_driver(const char *name)
{
	struct pci_driver *drv;
	int i, err;

	for (i = 0; i < ndrivers; i++)
		if (!strcmp(drivers[i].name, name))
			return 0;
	drv = &drivers[ndrivers];
	drv->name = name;
	drv->probe = nicsim_probe;
	drv->remove = nicsim_remove;
	drv->id_table = nicsim_ids;
	err = pci_register_driver(drv);
	if (!err)
		ndrivers++;
	return err;
}

static int add_func(int i, int *next)
{
	struct nicsim_func *f = &nicsim_func[i];
	unsigned int vendor, device, bus = busnr, slot, fn;
	char *at = strchr(funcs[i], '@');
	int devfn, pos = 0;

	if (at && sscanf(at, "@%x:%x.%x", &bus, &slot, &fn) != 3)
		return -EINVAL;
	if (at && (slot > 31 || fn > 7))
		return -EINVAL;
	devfn = at ? PCI_DEVFN(slot, fn) : (*next)++;
	if (bus > 0xff || sscanf(funcs[i], "%x:%x:%n", &vendor, &device, &pos) != 2 || !pos)
		return -EINVAL;
	strscpy(f->drvname, funcs[i] + pos, sizeof(f->drvname));
	strreplace(f->drvname, '@', '\0');
	if (!f->drvname[0])
		return -EINVAL;
	f->vendor = vendor;
	f->device = device;
	f->kind = !strcmp(f->drvname, "ice") ? NICSIM_ICE :
		  !strcmp(f->drvname, "mlx5_core") ? NICSIM_MLX5 : NICSIM_PLAIN;
	f->fw_lldp = fw_lldp & BIT(i);
	f->obj = nicsim_pci_new_func(vendor, device, bus, devfn);
	if (!f->obj)
		return -EINVAL;
	nicsim_versions_init(f);
	return 0;
}

static void drop_all(void)
{
	nicsim_pci_remove();
	while (ndrivers)
		pci_unregister_driver(&drivers[--ndrivers]);
	debugfs_remove_recursive(dbg_root);
}

static int __init nicsim_init(void)
{
	int i, next = 0, err;

	if (!nicsim_nfuncs && !ntree) {
		funcs[0] = funcs[1] = "8086:1592:ice";
		nicsim_nfuncs = 2;
	}
	dbg_root = debugfs_create_dir("nicsim", NULL);
	err = nicsim_pci_parse(tree, ntree);
	for (i = 0; i < nicsim_nfuncs && !err; i++) {
		err = add_func(i, &next);
		if (err)
			pr_err("nicsim: bad funcs entry '%s'\n", funcs[i]);
	}
	for (i = 0; i < nicsim_nfuncs && !err; i++)
		err = add_driver(nicsim_func[i].drvname);
	if (!err)
		err = nicsim_pci_scan(node, dbg_root);
	if (err)
		drop_all();
	return err;
}

static void __exit nicsim_exit(void)
{
	drop_all();
}

module_init(nicsim_init);
module_exit(nicsim_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Simulated NICs and PCI bridges for tests");
