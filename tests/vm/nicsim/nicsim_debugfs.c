// SPDX-License-Identifier: GPL-2.0
/* Knobs of a probed NIC, in debugfs nicsim/ADDRESS/ beside the link files of nicsim_pci.c. */
#include <linux/debugfs.h>
#include <linux/rtnetlink.h>
#include "nicsim.h"

/* ---------------------------------------------------------------- version strings */

static ssize_t version_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct nicsim_version *v = file->private_data;
	char line[NICSIM_VERSION_LEN + 1];
	int n = snprintf(line, sizeof(line), "%s\n", v->value);

	return simple_read_from_buffer(buf, len, pos, line, n);
}

static ssize_t version_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct nicsim_version *v = file->private_data;
	char line[NICSIM_VERSION_LEN] = "";

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	strscpy(v->value, strim(line), sizeof(v->value));
	return len;
}

static const struct file_operations version_fops = {
	.owner = THIS_MODULE, .open = simple_open, .llseek = default_llseek,
	.read = version_read, .write = version_write,
};

/* ---------------------------------------------------------------- actions */

static int health_put(void *p, u64 val)
{
	struct nicsim *s = p;

	while (s->health && val--)
		devlink_health_report(s->health, "simulated error", NULL);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(health_fops, NULL, health_put, "%llu\n");

static int fw_pfc_get(void *p, u64 *val)
{
	*val = ((struct nicsim *)p)->fw_pfc_en;
	return 0;
}

static int fw_pfc_put(void *p, u64 val)
{
	struct nicsim *s = p;

	if (val > 0xff)
		return -EINVAL;
	rtnl_lock();
	s->fw_pfc_en = val;
	nicsim_ice_negotiate(s);
	rtnl_unlock();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(fw_pfc_fops, fw_pfc_get, fw_pfc_put, "0x%llx\n");

/* "[-]SELECTOR PRIORITY PROTOCOL" adds (-: deletes) an APP entry past the driver's rules, as firmware DCBX does. */
static ssize_t fw_app_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	struct nicsim *s = file->private_data;
	unsigned int prio, proto;
	struct dcb_app app = { };
	char line[32] = "";
	int err, sel;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	if (sscanf(line, "%d %u %u", &sel, &prio, &proto) != 3 || prio > 7 || proto > 0xffff || !sel || abs(sel) > 5)
		return -EINVAL;
	app.selector = abs(sel);
	app.priority = prio;
	app.protocol = proto;
	rtnl_lock();
	err = sel < 0 ? dcb_ieee_delapp(s->ndev, &app) : dcb_ieee_setapp(s->ndev, &app);
	rtnl_unlock();
	return err ?: len;
}

static const struct file_operations fw_app_fops = { .owner = THIS_MODULE, .open = simple_open, .write = fw_app_write };

/* ---------------------------------------------------------------- tree */

static void version_files(struct nicsim *s)
{
	static const char * const kinds[] = { "fixed", "running", "stored" };
	struct dentry *dir = debugfs_create_dir("info", s->dbg);
	char name[48];
	int i;

	for (i = 0; i < s->f->nver; i++) {
		snprintf(name, sizeof(name), "%s.%s", kinds[s->f->ver[i].type], s->f->ver[i].key);
		debugfs_create_file(name, 0644, dir, &s->f->ver[i], &version_fops);
	}
}

static void counter_files(struct nicsim *s)
{
	struct dentry *dir = debugfs_create_dir("counters", s->dbg);
	char name[24];
	int i;

	for (i = 0; i < s->nstats; i++)
		debugfs_create_u64(s->stats[i].name, 0644, dir, &s->stat[i]);
	dir = debugfs_create_dir("traffic", s->dbg);
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		snprintf(name, sizeof(name), "rx_prio%d", i);
		debugfs_create_u64(name, 0444, dir, &s->rx_by_prio[i]);
		snprintf(name, sizeof(name), "tx_prio%d", i);
		debugfs_create_u64(name, 0444, dir, &s->tx_by_prio[i]);
	}
}

void nicsim_debugfs_init(struct nicsim *s)
{
	s->dbg = debugfs_create_dir("nic", s->f->obj->dbg);
	debugfs_create_u32("pfc_errno", 0644, s->dbg, &s->pfc_errno);
	debugfs_create_u32("ets_errno", 0644, s->dbg, &s->ets_errno);
	debugfs_create_u32("info_errno", 0644, s->dbg, &s->info_errno);
	debugfs_create_u32("speed", 0644, s->dbg, &s->speed);
	debugfs_create_file("health_error", 0200, s->dbg, s, &health_fops);
	if (s->f->kind == NICSIM_ICE && !s->safe_mode) {
		debugfs_create_file("fw_pfc_en", 0644, s->dbg, s, &fw_pfc_fops);
		debugfs_create_file("fw_app", 0200, s->dbg, s, &fw_app_fops);
	}
	version_files(s);
	counter_files(s);
}

void nicsim_debugfs_exit(struct nicsim *s)
{
	debugfs_remove_recursive(s->dbg);
}
