// SPDX-License-Identifier: GPL-2.0
/* Names of the ethtool statistics, as each driver spells them, bound to the slots that traffic and knobs change. */
#include "nicsim.h"

static const char * const ice_names[] = {
	"rx_unicast", "tx_unicast", "rx_multicast", "tx_multicast", "rx_broadcast", "tx_broadcast", "rx_bytes",
	"tx_bytes", "rx_dropped", "rx_unknown_protocol", "rx_alloc_fail", "rx_pg_alloc_fail", "tx_errors",
	"tx_linearize", "tx_busy", "tx_restart",
	"rx_bytes.nic", "tx_bytes.nic", "rx_unicast.nic", "tx_unicast.nic", "rx_multicast.nic", "tx_multicast.nic",
	"rx_broadcast.nic", "tx_broadcast.nic", "tx_errors.nic", "tx_timeout.nic", "link_xon_rx.nic", "link_xon_tx.nic",
	"link_xoff_rx.nic", "link_xoff_tx.nic", "tx_dropped_link_down.nic", "rx_undersize.nic", "rx_fragments.nic",
	"rx_oversize.nic", "rx_jabber.nic", "rx_csum_bad.nic", "rx_length_errors.nic", "rx_dropped.nic",
	"rx_crc_errors.nic", "illegal_bytes.nic", "mac_local_faults.nic", "mac_remote_faults.nic",
};

static const char * const mlx5_names[] = {
	"rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_out_of_buffer", "rx_if_down_packets",
	"tx_packets_phy", "rx_packets_phy", "rx_crc_errors_phy", "tx_bytes_phy", "rx_bytes_phy", "tx_pause_ctrl_phy",
	"rx_pause_ctrl_phy", "rx_discards_phy", "tx_discards_phy", "tx_errors_phy", "rx_symbol_err_phy",
	"link_down_events_phy", "rx_buffer_passed_thres_phy",
};

static const char * const mlx5_prio_names[] = {	/* always there */
	"rx_prio%d_bytes", "rx_prio%d_packets", "rx_prio%d_discards", "tx_prio%d_bytes", "tx_prio%d_packets",
	"rx_prio%d_buf_discard", "rx_prio%d_cong_discard", "rx_prio%d_marked",
};

static const char * const mlx5_pause_names[] = {	/* with %s = prioN: PFC on for N; with %s = global: pause on */
	"rx_%s_pause", "rx_%s_pause_duration", "tx_%s_pause", "tx_%s_pause_duration", "rx_%s_pause_transition",
};

static const char * const mlx5_storm_names[] = { "tx_pause_storm_warning_events", "tx_pause_storm_error_events" };

static const char * const plain_names[] = { "rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_dropped" };

static u64 *add(struct nicsim *s, const char *name, u8 gate)
{
	struct nicsim_stat *st = &s->stats[s->nstats];

	if (WARN_ON(s->nstats == NICSIM_MAX_STATS))
		return &s->stat[0];
	strscpy(st->name, name, sizeof(st->name));
	st->gate = gate;
	return &s->stat[s->nstats++];
}

static void add_all(struct nicsim *s, const char * const *names, int n)
{
	while (n--)
		add(s, *names++, NICSIM_ALWAYS);
}

static u64 *find(struct nicsim *s, const char *name)
{
	int i;

	for (i = 0; i < s->nstats; i++)
		if (!strcmp(s->stats[i].name, name))
			return &s->stat[i];
	return NULL;
}

static u64 *add_prio(struct nicsim *s, const char *format, int prio, u8 gate)
{
	char name[ETH_GSTRING_LEN];

	snprintf(name, sizeof(name), format, prio);
	return add(s, name, gate);
}

static void ice_stats(struct nicsim *s)
{
	int i;

	add_all(s, ice_names, ARRAY_SIZE(ice_names));
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		add_prio(s, "tx_priority_%u_xon.nic", i, NICSIM_ALWAYS);
		s->xoff_tx[i] = add_prio(s, "tx_priority_%u_xoff.nic", i, NICSIM_ALWAYS);
	}
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		add_prio(s, "rx_priority_%u_xon.nic", i, NICSIM_ALWAYS);
		s->xoff_rx[i] = add_prio(s, "rx_priority_%u_xoff.nic", i, NICSIM_ALWAYS);
	}
	s->rx_drop = find(s, "rx_dropped.nic");
}

static void mlx5_pause_stats(struct nicsim *s, const char *what, u8 gate)
{
	char name[ETH_GSTRING_LEN];
	int i;

	for (i = 0; i < ARRAY_SIZE(mlx5_pause_names); i++) {
		snprintf(name, sizeof(name), mlx5_pause_names[i], what);
		add(s, name, gate);
	}
}

static void mlx5_stats(struct nicsim *s)
{
	char what[8], name[ETH_GSTRING_LEN];
	int i, j;

	add_all(s, mlx5_names, ARRAY_SIZE(mlx5_names));
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		for (j = 0; j < ARRAY_SIZE(mlx5_prio_names); j++)
			add_prio(s, mlx5_prio_names[j], i, NICSIM_ALWAYS);
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		snprintf(what, sizeof(what), "prio%d", i);
		mlx5_pause_stats(s, what, NICSIM_PFC + i);
		snprintf(name, sizeof(name), "rx_prio%d_pause", i);
		s->xoff_rx[i] = find(s, name);
		snprintf(name, sizeof(name), "tx_prio%d_pause", i);
		s->xoff_tx[i] = find(s, name);
		snprintf(name, sizeof(name), "rx_prio%d_packets", i);
		s->prio_rx[i] = find(s, name);
		snprintf(name, sizeof(name), "tx_prio%d_packets", i);
		s->prio_tx[i] = find(s, name);
	}
	mlx5_pause_stats(s, "global", NICSIM_PAUSE);
	add_all(s, mlx5_storm_names, ARRAY_SIZE(mlx5_storm_names));
	s->rx_drop = find(s, "rx_discards_phy");
}

bool nicsim_stat_visible(const struct nicsim *s, int i)
{
	u8 gate = s->stats[i].gate;

	if (gate == NICSIM_PAUSE)
		return s->rx_pause || s->tx_pause;
	return gate == NICSIM_ALWAYS || (s->pfc.pfc_en & BIT(gate - NICSIM_PFC));
}

void nicsim_stats_init(struct nicsim *s)
{
	if (s->f->kind == NICSIM_ICE)
		ice_stats(s);
	else if (s->f->kind == NICSIM_MLX5)
		mlx5_stats(s);
	else
		add_all(s, plain_names, ARRAY_SIZE(plain_names));
	if (s->f->kind == NICSIM_PLAIN)
		s->rx_drop = find(s, "rx_dropped");
}
