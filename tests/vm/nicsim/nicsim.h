/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nicsim: simulated NICs, PCI bridges and endpoints for the test machine.
 * README.md holds the interface (parameters, knobs) and the list of driver rules that are obeyed.
 */
#ifndef NICSIM_H
#define NICSIM_H

#include <linux/auxiliary_bus.h>
#include <linux/bitmap.h>
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <net/dcbnl.h>
#include <net/devlink.h>

#define NICSIM_MAX_FUNCS 16
#define NICSIM_MAX_TREE 32
#define NICSIM_MAX_OBJS (NICSIM_MAX_FUNCS + NICSIM_MAX_TREE)
#define NICSIM_MAX_DSCP 64
#define NICSIM_VERSION_LEN 48

enum nicsim_kind { NICSIM_PLAIN, NICSIM_ICE, NICSIM_MLX5 };

struct nicsim_link {			/* a field of the PCIe capability that debugfs shows */
	struct nicsim_obj *obj;
	u16 reg, mask;
};

/* One PCI function: a NIC, a bridge or an endpoint without a driver. Lives from insmod to rmmod. */
struct nicsim_obj {
	u8 bus, devfn;
	u8 cfg[PCI_CFG_SPACE_EXP_SIZE];
	u16 acs;			/* offset of the ACS capability, 0 = none */
	u8 secondary, subordinate;	/* bridges: bus numbers below, 0 = not a bridge */
	u8 bar1_bits;			/* log2 of the size of a 64-bit BAR1, 0 = none */
	struct nicsim_link link[4];
	struct dentry *dbg;
};

/* devlink info: an empty value is left out; an empty stored value falls back to the running one. */
struct nicsim_version {
	enum { NICSIM_FIXED, NICSIM_RUNNING, NICSIM_STORED } type;
	const char *key;
	char value[NICSIM_VERSION_LEN];
};
#define NICSIM_MAX_VERSIONS 20

/* A NIC function. What a reset or a re-probe keeps (NVM) stands here, the rest in struct nicsim. */
struct nicsim_func {
	struct nicsim_obj *obj;
	enum nicsim_kind kind;
	u16 vendor, device;
	char drvname[24];
	struct net_device *ndev;
	bool fw_lldp;			/* firmware LLDP agent, as stored per port */
	struct nicsim_version ver[NICSIM_MAX_VERSIONS];
	int nver;
};

struct nicsim_stat {
	char name[ETH_GSTRING_LEN];
	u8 gate;			/* NICSIM_ALWAYS, NICSIM_PAUSE or NICSIM_PFC + priority */
};
enum { NICSIM_ALWAYS = 0, NICSIM_PAUSE = 1, NICSIM_PFC = 2 };
#define NICSIM_MAX_STATS 160

struct nicsim {				/* netdev_priv */
	struct nicsim_func *f;
	struct net_device *ndev;
	struct net_device __rcu *peer;
	struct pci_dev *pdev;
	bool safe_mode;
	u8 max_tc;

	/* DCB */
	struct ieee_ets ets;
	struct ieee_pfc pfc;
	struct ieee_maxrate maxrate;
	struct dcbnl_buffer buf;
	u8 dcbx;
	bool dscp_mode;			/* ice: L3 DSCP mode, mlx5: DSCP trust */
	u8 dscp_map[NICSIM_MAX_DSCP];	/* ice: TC, mlx5: priority */
	DECLARE_BITMAP(dscp_mapped, NICSIM_MAX_DSCP);
	u32 fw_pfc_en;			/* knob: PFC mask that the firmware agent negotiates */

	/* ethtool */
	u32 speed, channels, priv_flags;
	u32 rx_pause, tx_pause, autoneg_pause;

	/* statistics: named slots, set by traffic and by debugfs */
	struct nicsim_stat stats[NICSIM_MAX_STATS];
	u64 stat[NICSIM_MAX_STATS];
	int nstats;
	u64 *xoff_rx[IEEE_8021QAZ_MAX_TCS], *xoff_tx[IEEE_8021QAZ_MAX_TCS];
	u64 *prio_rx[IEEE_8021QAZ_MAX_TCS], *prio_tx[IEEE_8021QAZ_MAX_TCS];	/* mlx5 only */
	u64 *rx_drop;
	u64 tx_packets, tx_bytes, rx_packets, rx_bytes, tx_dropped;
	u64 rx_by_prio[IEEE_8021QAZ_MAX_TCS], tx_by_prio[IEEE_8021QAZ_MAX_TCS];

	/* knobs */
	u32 ets_errno, pfc_errno, info_errno;

	/* devlink */
	struct devlink *devlink;
	struct devlink_health_reporter *health;
	bool rdma_capable, roce, iwarp;
	struct auxiliary_device *aux;
	atomic_t rdma_users;
	struct dentry *dbg;
};

/* nicsim_pci.c */
extern struct pci_ops nicsim_pci_ops;
int nicsim_pci_parse(char **tree, int ntree);
struct nicsim_obj *nicsim_pci_new_func(u16 vendor, u16 device, int bus, int devfn);
int nicsim_pci_scan(int node, struct dentry *dbg_root);
void nicsim_pci_remove(void);

/* nicsim_main.c */
extern struct nicsim_func nicsim_func[NICSIM_MAX_FUNCS];
extern int nicsim_nfuncs;

/* nicsim_netdev.c */
extern const struct net_device_ops nicsim_ndo;
void nicsim_cable(struct nicsim *s, struct net_device *peer);
void nicsim_uncable(struct nicsim *s);

/* nicsim_ice.c, nicsim_mlx5.c */
extern const struct dcbnl_rtnl_ops nicsim_ice_dcbnl;
extern const struct dcbnl_rtnl_ops nicsim_mlx5_dcbnl;
void nicsim_ice_init(struct nicsim *s);
int nicsim_ice_set_agent(struct nicsim *s, bool on);
void nicsim_ice_negotiate(struct nicsim *s);
void nicsim_mlx5_init(struct nicsim *s);

/* nicsim_ethtool.c, nicsim_stats.c */
extern const struct ethtool_ops nicsim_ethtool, nicsim_ethtool_ice, nicsim_ethtool_ice_safe, nicsim_ethtool_mlx5;
void nicsim_stats_init(struct nicsim *s);
bool nicsim_stat_visible(const struct nicsim *s, int i);

/* nicsim_devlink.c */
void nicsim_versions_init(struct nicsim_func *f);
const char *nicsim_version(const struct nicsim_func *f, const char *key);
int nicsim_devlink_init(struct nicsim *s);
void nicsim_devlink_exit(struct nicsim *s);

/* nicsim_debugfs.c */
void nicsim_debugfs_init(struct nicsim *s);
void nicsim_debugfs_exit(struct nicsim *s);

/*
 * For nicsim_rdma.c. Fills what the RDMA device on pdev must look like; -ENODEV if pdev is no probed nicsim NIC.
 * nicsim_rdma_use counts the RDMA devices of a function (channels cannot change while there is one).
 */
struct nicsim_rdma_desc {
	enum nicsim_kind kind;
	bool iwarp;
};
int nicsim_rdma_describe(struct pci_dev *pdev, struct nicsim_rdma_desc *desc);
void nicsim_rdma_use(struct pci_dev *pdev, int delta);

#endif
