// SPDX-License-Identifier: GPL-2.0
/* ethtool: driver info, private flags, pause, channels, link. Statistics are in nicsim_stats.c. */
#include "nicsim.h"

static const char * const ice_flags[] = {
	"link-down-on-close", "fw-lldp-agent", "vf-true-promisc-support", "mdd-auto-reset-vf",
	"vf-vlan-pruning", "legacy-rx",
};
#define ICE_FLAG_LLDP BIT(1)
#define ICE_FLAG_VLAN_PRUNING BIT(4)

static const char * const mlx5_flags[] = {
	"rx_cqe_moder", "tx_cqe_moder", "rx_cqe_compress", "rx_striding_rq", "rx_no_csum_complete", "xdp_tx_mpwqe",
	"skb_tx_mpwqe", "tx_port_ts",
};

static const char * const *flag_names(const struct nicsim *s, int *n)
{
	*n = s->f->kind == NICSIM_ICE && !s->safe_mode ? ARRAY_SIZE(ice_flags) :
	     s->f->kind == NICSIM_MLX5 ? ARRAY_SIZE(mlx5_flags) : 0;
	return s->f->kind == NICSIM_ICE ? ice_flags : mlx5_flags;
}

static void nicsim_drvinfo(struct net_device *d, struct ethtool_drvinfo *i)
{
	struct nicsim *s = netdev_priv(d);
	int n;

	strscpy(i->driver, s->f->drvname, sizeof(i->driver));
	strscpy(i->bus_info, pci_name(s->pdev), sizeof(i->bus_info));
	if (s->f->kind == NICSIM_ICE)
		snprintf(i->fw_version, sizeof(i->fw_version), "%s %s %s", nicsim_version(s->f, "fw.psid.api"),
			 nicsim_version(s->f, "fw.bundle_id"), nicsim_version(s->f, "fw.undi"));
	else if (s->f->kind == NICSIM_MLX5)
		snprintf(i->fw_version, sizeof(i->fw_version), "%s (%s)", nicsim_version(s->f, "fw.version"),
			 nicsim_version(s->f, "fw.psid"));
	flag_names(s, &n);
	i->n_priv_flags = n;
}

static int nicsim_sset_count(struct net_device *d, int sset)
{
	struct nicsim *s = netdev_priv(d);
	int i, n = 0;

	if (sset == ETH_SS_PRIV_FLAGS) {
		flag_names(s, &n);
		return n ?: -EOPNOTSUPP;
	}
	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	for (i = 0; i < s->nstats; i++)
		n += nicsim_stat_visible(s, i);
	return n;
}

static void nicsim_strings(struct net_device *d, u32 sset, u8 *p)
{
	struct nicsim *s = netdev_priv(d);
	const char * const *names;
	int i, n;

	if (sset == ETH_SS_PRIV_FLAGS) {
		names = flag_names(s, &n);
		for (i = 0; i < n; i++)
			ethtool_puts(&p, names[i]);
		return;
	}
	for (i = 0; i < s->nstats; i++)
		if (nicsim_stat_visible(s, i))
			ethtool_puts(&p, s->stats[i].name);
}

static void nicsim_get_stats(struct net_device *d, struct ethtool_stats *st, u64 *v)
{
	struct nicsim *s = netdev_priv(d);
	int i;

	for (i = 0; i < s->nstats; i++)
		if (nicsim_stat_visible(s, i))
			*v++ = s->stat[i];
}

/* ---------------------------------------------------------------- private flags */

static u32 nicsim_get_priv(struct net_device *d)
{
	struct nicsim *s = netdev_priv(d);

	return s->priv_flags | (s->f->kind == NICSIM_ICE && s->f->fw_lldp ? ICE_FLAG_LLDP : 0);
}

static int ice_set_priv(struct net_device *d, u32 flags)
{
	struct nicsim *s = netdev_priv(d);
	int err;

	if ((s->priv_flags ^ flags) & ICE_FLAG_VLAN_PRUNING)
		return -EOPNOTSUPP;
	err = nicsim_ice_set_agent(s, flags & ICE_FLAG_LLDP);
	if (!err)
		s->priv_flags = flags & ~ICE_FLAG_LLDP;
	return err;
}

static int mlx5_set_priv(struct net_device *d, u32 flags)
{
	((struct nicsim *)netdev_priv(d))->priv_flags = flags;
	return 0;
}

/* ---------------------------------------------------------------- pause */

static void nicsim_get_pause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct nicsim *s = netdev_priv(d);

	p->autoneg = s->autoneg_pause;
	p->rx_pause = s->rx_pause;
	p->tx_pause = s->tx_pause;
}

static void ice_get_pause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct nicsim *s = netdev_priv(d);

	nicsim_get_pause(d, p);
	if (s->pfc.pfc_en)
		p->rx_pause = p->tx_pause = 0;
}

static int ice_set_pause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct nicsim *s = netdev_priv(d);

	if (s->pfc.pfc_en) {
		netdev_info(d, "Priority flow control enabled. Cannot set link flow control.\n");
		return -EOPNOTSUPP;
	}
	if (p->autoneg != s->autoneg_pause) {
		netdev_info(d, "To change autoneg please use: ethtool -s <dev> autoneg <on|off>\n");
		return -EOPNOTSUPP;
	}
	s->rx_pause = p->rx_pause;
	s->tx_pause = p->tx_pause;
	return 0;
}

static int mlx5_set_pause(struct net_device *d, struct ethtool_pauseparam *p)
{
	struct nicsim *s = netdev_priv(d);

	if (p->autoneg)
		return -EINVAL;
	s->rx_pause = p->rx_pause;
	s->tx_pause = p->tx_pause;
	return 0;
}

/* ---------------------------------------------------------------- channels and link */

static void nicsim_get_channels(struct net_device *d, struct ethtool_channels *c)
{
	struct nicsim *s = netdev_priv(d);

	c->max_combined = s->safe_mode ? 1 : num_online_cpus();
	c->combined_count = s->channels;
}

static int nicsim_set_channels(struct net_device *d, struct ethtool_channels *c)
{
	struct nicsim *s = netdev_priv(d);

	if (s->f->kind == NICSIM_ICE && atomic_read(&s->rdma_users)) {
		netdev_err(d, "Cannot change channels when RDMA is active\n");
		return -EBUSY;
	}
	s->channels = c->combined_count;
	return 0;
}

static int nicsim_get_link(struct net_device *d, struct ethtool_link_ksettings *k)
{
	bool up = netif_carrier_ok(d);

	k->base.speed = up ? ((struct nicsim *)netdev_priv(d))->speed : SPEED_UNKNOWN;
	k->base.duplex = up ? DUPLEX_FULL : DUPLEX_UNKNOWN;
	k->base.port = PORT_DA;
	k->base.autoneg = AUTONEG_DISABLE;
	return 0;
}

#define COMMON_OPS								\
	.get_drvinfo = nicsim_drvinfo, .get_link = ethtool_op_get_link,		\
	.get_link_ksettings = nicsim_get_link, .get_channels = nicsim_get_channels, \
	.get_sset_count = nicsim_sset_count, .get_strings = nicsim_strings,	\
	.get_ethtool_stats = nicsim_get_stats

const struct ethtool_ops nicsim_ethtool_ice_safe = { COMMON_OPS };

const struct ethtool_ops nicsim_ethtool = {
	COMMON_OPS,
	.get_pauseparam = nicsim_get_pause,
};

const struct ethtool_ops nicsim_ethtool_ice = {
	COMMON_OPS,
	.set_channels = nicsim_set_channels,
	.get_priv_flags = nicsim_get_priv, .set_priv_flags = ice_set_priv,
	.get_pauseparam = ice_get_pause, .set_pauseparam = ice_set_pause,
};

const struct ethtool_ops nicsim_ethtool_mlx5 = {
	COMMON_OPS,
	.set_channels = nicsim_set_channels,
	.get_priv_flags = nicsim_get_priv, .set_priv_flags = mlx5_set_priv,
	.get_pauseparam = nicsim_get_pause, .set_pauseparam = mlx5_set_pause,
};
