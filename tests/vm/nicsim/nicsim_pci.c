// SPDX-License-Identifier: GPL-2.0
/* Emulated PCI: config space of NICs, bridges and endpoints, and the root buses that carry them. */
#include <linux/debugfs.h>
#include <linux/unaligned.h>
#include "nicsim.h"

#define CAP_PCIE 0x40
#define EXT_DSN 0x100
#define EXT_ACS 0x110
#define ACS_CAPS (PCI_ACS_SV | PCI_ACS_TB | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF | PCI_ACS_DT)
#define MAX_ROOTS 8

static struct nicsim_obj *objs[NICSIM_MAX_OBJS];
static int nobjs;
static struct pci_bus *roots[MAX_ROOTS];
static struct pci_sysdata sysdata;
static int nroots;

static struct nicsim_obj *find_obj(int bus, int devfn)
{
	int i;

	for (i = 0; i < nobjs; i++)
		if (objs[i]->bus == bus && objs[i]->devfn == devfn)
			return objs[i];
	return NULL;
}

/* ---------------------------------------------------------------- config space */

static void put_link(struct nicsim_obj *o, int gen, int width)
{
	u8 *c = o->cfg + CAP_PCIE;

	put_unaligned_le32(gen | (width << 4), c + PCI_EXP_LNKCAP);
	put_unaligned_le16(gen | (width << 4), c + PCI_EXP_LNKSTA);
	put_unaligned_le32(GENMASK(gen, 1), c + PCI_EXP_LNKCAP2);
}

static struct nicsim_obj *new_obj(u16 vendor, u16 device, u32 class, int bus, int devfn, int pcie_type)
{
	struct nicsim_obj *o;
	u8 *c;

	if (nobjs == NICSIM_MAX_OBJS || find_obj(bus, devfn)) {
		pr_err("nicsim: %02x:%02x.%x given twice, or too many functions\n", bus, PCI_SLOT(devfn),
		       PCI_FUNC(devfn));
		return NULL;
	}
	o = kzalloc(sizeof(*o), GFP_KERNEL);
	if (!o)
		return NULL;
	objs[nobjs++] = o;
	o->bus = bus;
	o->devfn = devfn;
	c = o->cfg;
	put_unaligned_le16(vendor, c + PCI_VENDOR_ID);
	put_unaligned_le16(device, c + PCI_DEVICE_ID);
	put_unaligned_le16(PCI_STATUS_CAP_LIST, c + PCI_STATUS);
	c[PCI_REVISION_ID] = 2;
	c[PCI_CLASS_PROG] = class;
	put_unaligned_le16(class >> 8, c + PCI_CLASS_DEVICE);
	c[PCI_HEADER_TYPE] = PCI_HEADER_TYPE_MFD;
	c[PCI_CAPABILITY_LIST] = CAP_PCIE;
	c[CAP_PCIE] = PCI_CAP_ID_EXP;
	put_unaligned_le16(2 | (pcie_type << 4), c + CAP_PCIE + PCI_EXP_FLAGS);
	put_unaligned_le32(PCI_EXP_DEVCAP_RBER, c + CAP_PCIE + PCI_EXP_DEVCAP);
	put_unaligned_le16(0x2810, c + CAP_PCIE + PCI_EXP_DEVCTL);	/* reset value: relaxed ordering on */
	put_link(o, 4, 16);
	return o;
}

struct nicsim_obj *nicsim_pci_new_func(u16 vendor, u16 device, int bus, int devfn)
{
	struct nicsim_obj *o;
	u8 *dsn;

	o = new_obj(vendor, device, PCI_CLASS_NETWORK_ETHERNET << 8, bus, devfn, PCI_EXP_TYPE_ENDPOINT);
	if (!o)
		return NULL;
	put_unaligned_le16(vendor, o->cfg + PCI_SUBSYSTEM_VENDOR_ID);
	put_unaligned_le16(2, o->cfg + PCI_SUBSYSTEM_ID);
	dsn = o->cfg + EXT_DSN;			/* one serial number per card */
	put_unaligned_le32(PCI_EXT_CAP_ID_DSN | (1 << 16), dsn);
	put_unaligned_le32(0xff000000 | bus << 8 | PCI_SLOT(devfn), dsn + 4);
	put_unaligned_le32(0xb49691ff, dsn + 8);
	return o;
}

static void put_acs(struct nicsim_obj *o, u16 control)
{
	o->acs = EXT_ACS;
	put_unaligned_le32(PCI_EXT_CAP_ID_DSN | (1 << 16) | (EXT_ACS << 20), o->cfg + EXT_DSN);
	put_unaligned_le32(PCI_EXT_CAP_ID_ACS | (1 << 16), o->cfg + EXT_ACS);
	put_unaligned_le16(ACS_CAPS, o->cfg + EXT_ACS + PCI_ACS_CAP);
	put_unaligned_le16(control, o->cfg + EXT_ACS + PCI_ACS_CTRL);
}

static bool writable(const struct nicsim_obj *o, int where)
{
	int pcie = where - CAP_PCIE;

	return where == PCI_COMMAND || where == PCI_COMMAND + 1 ||
	       (o->secondary && where >= PCI_PRIMARY_BUS && where <= PCI_SEC_LATENCY_TIMER) ||
	       (o->secondary && (where == PCI_BRIDGE_CONTROL || where == PCI_BRIDGE_CONTROL + 1)) ||
	       pcie == PCI_EXP_DEVCTL || pcie == PCI_EXP_DEVCTL + 1 ||
	       (o->acs && (where == o->acs + PCI_ACS_CTRL || where == o->acs + PCI_ACS_CTRL + 1));
}

static void write_bar1(struct nicsim_obj *o, int where, u32 val)
{
	u64 mask = ~((1ULL << o->bar1_bits) - 1);

	if (where == PCI_BASE_ADDRESS_1)
		put_unaligned_le32((val & (u32)mask) | PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH,
				   o->cfg + where);
	else
		put_unaligned_le32(val & (u32)(mask >> 32), o->cfg + where);
}

static int cfg_read(struct pci_bus *b, unsigned int devfn, int where, int size, u32 *val)
{
	struct nicsim_obj *o = find_obj(b->number, devfn);
	int i;

	*val = ~0;
	if (!o)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (where + size > PCI_CFG_SPACE_EXP_SIZE)
		return PCIBIOS_BAD_REGISTER_NUMBER;
	*val = 0;
	for (i = 0; i < size; i++)
		*val |= (u32)o->cfg[where + i] << (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

static int cfg_write(struct pci_bus *b, unsigned int devfn, int where, int size, u32 val)
{
	struct nicsim_obj *o = find_obj(b->number, devfn);
	int i;

	if (!o)
		return PCIBIOS_DEVICE_NOT_FOUND;
	if (o->bar1_bits && size == 4 && (where == PCI_BASE_ADDRESS_1 || where == PCI_BASE_ADDRESS_2))
		write_bar1(o, where, val);
	for (i = 0; i < size && where + i < PCI_CFG_SPACE_EXP_SIZE; i++)
		if (writable(o, where + i))
			o->cfg[where + i] = val >> (8 * i);
	return PCIBIOS_SUCCESSFUL;
}

struct pci_ops nicsim_pci_ops = { .read = cfg_read, .write = cfg_write };

/* ---------------------------------------------------------------- tree= */

static int parse_bridge(int bus, int devfn, const char *spec)
{
	static const struct { const char *name; int type; u16 device; bool acs; } types[] = {
		{ "root:", PCI_EXP_TYPE_ROOT_PORT, 0x1901, true },
		{ "up:", PCI_EXP_TYPE_UPSTREAM, 0xc030, false },
		{ "down:", PCI_EXP_TYPE_DOWNSTREAM, 0xc030, true },
	};
	unsigned int sec, sub, control = 0;
	struct nicsim_obj *o;
	const char *slash;
	int i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!strncmp(spec, types[i].name, strlen(types[i].name)))
			break;
	if (i == ARRAY_SIZE(types) || sscanf(spec + strlen(types[i].name), "%x-%x", &sec, &sub) != 2 || sec <= bus ||
	    sub < sec || sub > 0xff)
		return -EINVAL;
	slash = strchr(spec, '/');
	if (slash && strcmp(slash, "/-") && sscanf(slash, "/%x", &control) != 1)
		return -EINVAL;
	o = new_obj(i ? 0x1000 : 0x8086, types[i].device, PCI_CLASS_BRIDGE_PCI_NORMAL, bus, devfn, types[i].type);
	if (!o)
		return -EINVAL;
	o->cfg[PCI_HEADER_TYPE] |= PCI_HEADER_TYPE_BRIDGE;
	o->cfg[PCI_PRIMARY_BUS] = bus;
	o->cfg[PCI_SECONDARY_BUS] = o->secondary = sec;
	o->cfg[PCI_SUBORDINATE_BUS] = o->subordinate = sub;
	o->cfg[PCI_IO_BASE] = 0xf0;		/* base above limit: no windows */
	put_unaligned_le16(0xfff0, o->cfg + PCI_MEMORY_BASE);
	put_unaligned_le16(0xfff0, o->cfg + PCI_PREF_MEMORY_BASE);
	if (slash ? strcmp(slash, "/-") != 0 : types[i].acs)
		put_acs(o, control);
	return 0;
}

static int parse_endpoint(int bus, int devfn, const char *spec)
{
	unsigned int vendor, device, class, bits = 0;
	struct nicsim_obj *o;

	if (sscanf(spec, "%x:%x:%x/%u", &vendor, &device, &class, &bits) < 3 || (bits && (bits < 12 || bits > 40)))
		return -EINVAL;
	o = new_obj(vendor, device, class << 8, bus, devfn, PCI_EXP_TYPE_ENDPOINT);
	if (!o)
		return -EINVAL;
	o->bar1_bits = bits;
	if (bits) {
		write_bar1(o, PCI_BASE_ADDRESS_1, 0);
		write_bar1(o, PCI_BASE_ADDRESS_2, 0);
	}
	return 0;
}

int nicsim_pci_parse(char **tree, int ntree)
{
	unsigned int bus, slot, fn;
	int i, pos, err;

	for (i = 0; i < ntree; i++) {
		pos = 0;
		if (sscanf(tree[i], "%x:%x.%x=%n", &bus, &slot, &fn, &pos) != 3 || !pos || bus > 0xff || slot > 31 ||
		    fn > 7)
			err = -EINVAL;
		else if (strchr(tree[i] + pos, '-'))
			err = parse_bridge(bus, PCI_DEVFN(slot, fn), tree[i] + pos);
		else
			err = parse_endpoint(bus, PCI_DEVFN(slot, fn), tree[i] + pos);
		if (err) {
			pr_err("nicsim: bad tree entry '%s'\n", tree[i]);
			return err;
		}
	}
	return 0;
}

/* ---------------------------------------------------------------- debugfs: link */

static int link_get(void *p, u64 *val)
{
	struct nicsim_link *l = p;

	*val = (get_unaligned_le16(l->obj->cfg + CAP_PCIE + l->reg) & l->mask) >> __ffs(l->mask);
	return 0;
}

static int link_put(void *p, u64 val)
{
	struct nicsim_link *l = p;
	u8 *cap = l->obj->cfg + CAP_PCIE;
	u16 old = get_unaligned_le16(cap + l->reg);

	if (val > l->mask >> __ffs(l->mask) || (l->mask == PCI_EXP_LNKSTA_CLS && (val < 1 || val > 6)))
		return -EINVAL;
	put_unaligned_le16((old & ~l->mask) | (val << __ffs(l->mask)), cap + l->reg);
	if (l->reg == PCI_EXP_LNKCAP && l->mask == PCI_EXP_LNKSTA_CLS)
		put_unaligned_le32(GENMASK(val, 1), cap + PCI_EXP_LNKCAP2);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(link_fops, link_get, link_put, "%llu\n");

static const struct { const char *name; u16 reg, mask; } link_files[] = {
	{ "link_speed", PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS },
	{ "link_width", PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_NLW },
	{ "max_link_speed", PCI_EXP_LNKCAP, PCI_EXP_LNKSTA_CLS },
	{ "max_link_width", PCI_EXP_LNKCAP, PCI_EXP_LNKSTA_NLW },
};

static void obj_debugfs(struct nicsim_obj *o, struct dentry *root)
{
	char name[16];
	int i;

	snprintf(name, sizeof(name), "0000:%02x:%02x.%x", o->bus, PCI_SLOT(o->devfn), PCI_FUNC(o->devfn));
	o->dbg = debugfs_create_dir(name, root);
	for (i = 0; i < ARRAY_SIZE(link_files); i++) {
		o->link[i] = (struct nicsim_link){ o, link_files[i].reg, link_files[i].mask };
		debugfs_create_file(link_files[i].name, 0644, o->dbg, &o->link[i], &link_fops);
	}
}

/* ---------------------------------------------------------------- root buses */

static bool below_bridge(int bus)
{
	int i;

	for (i = 0; i < nobjs; i++)
		if (objs[i]->secondary && bus >= objs[i]->secondary && bus <= objs[i]->subordinate)
			return true;
	return false;
}

static struct pci_bus *root_of(int bus)
{
	int i;

	for (i = 0; i < nroots; i++)
		if (roots[i]->number == bus)
			return roots[i];
	return NULL;
}

int nicsim_pci_scan(int node, struct dentry *dbg_root)
{
	int i, err = 0;

	sysdata.node = node;
	for (i = 0; i < nobjs; i++)
		obj_debugfs(objs[i], dbg_root);
	pci_lock_rescan_remove();
	for (i = 0; i < nobjs && !err; i++) {
		LIST_HEAD(res);

		if (below_bridge(objs[i]->bus) || root_of(objs[i]->bus))
			continue;
		if (nroots == MAX_ROOTS || pci_find_bus(0, objs[i]->bus)) {
			pr_err("nicsim: bus %02x is in use\n", objs[i]->bus);
			err = -EBUSY;
			break;
		}
		roots[nroots] = pci_scan_root_bus(NULL, objs[i]->bus, &nicsim_pci_ops, &sysdata, &res);
		if (roots[nroots])
			pci_bus_add_devices(roots[nroots++]);
		else
			err = -ENODEV;
	}
	pci_unlock_rescan_remove();
	return err;
}

void nicsim_pci_remove(void)
{
	pci_lock_rescan_remove();
	while (nroots) {
		nroots--;
		pci_stop_root_bus(roots[nroots]);
		pci_remove_root_bus(roots[nroots]);
	}
	pci_unlock_rescan_remove();
	while (nobjs)
		kfree(objs[--nobjs]);
}
