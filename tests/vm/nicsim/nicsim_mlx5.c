// SPDX-License-Identifier: GPL-2.0
/* DCB as the mlx5_core driver handles it. The rules and their sources stand in README.md. */
#include "nicsim.h"

#define RATE_UNIT_KBPS 100000		/* rate limits count in 100 Mb/s */

static int mlx5_getets(struct net_device *d, struct ieee_ets *e)
{
	struct nicsim *s = netdev_priv(d);

	if (s->ets_errno)
		return -(int)s->ets_errno;
	*e = s->ets;
	return 0;
}

static int mlx5_setets(struct net_device *d, struct ieee_ets *e)
{
	struct nicsim *s = netdev_priv(d);
	bool any = false;
	int i, bw = 0;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (e->prio_tc[i] >= IEEE_8021QAZ_MAX_TCS)
			return -EINVAL;
		if (e->tc_tsa[i] == IEEE_8021QAZ_TSA_ETS) {
			any = true;
			bw += e->tc_tx_bw[i];
		}
	}
	if (any && bw != 100)
		return -EINVAL;
	s->ets = *e;
	s->ets.ets_cap = IEEE_8021QAZ_MAX_TCS;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		if (e->tc_tsa[i] != IEEE_8021QAZ_TSA_ETS)
			s->ets.tc_tx_bw[i] = 100;
	return 0;
}

static int mlx5_getpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct nicsim *s = netdev_priv(d);
	int i;

	if (s->pfc_errno)
		return -(int)s->pfc_errno;
	*p = s->pfc;
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		p->requests[i] = *s->xoff_tx[i];
		p->indications[i] = *s->xoff_rx[i];
	}
	return 0;
}

static int mlx5_setpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct nicsim *s = netdev_priv(d);

	s->pfc.pfc_en = p->pfc_en;
	if (p->delay)
		s->pfc.delay = p->delay;
	return 0;
}

static int mlx5_setapp(struct net_device *d, struct dcb_app *app)
{
	struct nicsim *s = netdev_priv(d);
	struct dcb_app old = { .selector = IEEE_8021QAZ_APP_SEL_DSCP, .protocol = app->protocol };
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= NICSIM_MAX_DSCP)
		return -EINVAL;
	if (app->priority >= IEEE_8021QAZ_MAX_TCS)
		return -EINVAL;
	old.priority = s->dscp_map[app->protocol];
	s->dscp_mode = true;
	s->dscp_map[app->protocol] = app->priority;
	dcb_ieee_delapp(d, &old);		/* one priority per DSCP: the newest */
	err = dcb_ieee_setapp(d, app);
	if (!err)
		set_bit(app->protocol, s->dscp_mapped);
	return err;
}

static int mlx5_delapp(struct net_device *d, struct dcb_app *app)
{
	struct nicsim *s = netdev_priv(d);
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP || app->protocol >= NICSIM_MAX_DSCP)
		return -EINVAL;
	if (!s->dscp_mode)
		return -ENOENT;
	if (app->priority != s->dscp_map[app->protocol])
		return -ENOENT;
	err = dcb_ieee_delapp(d, app);
	if (err)
		return err;
	s->dscp_map[app->protocol] = 0;
	clear_bit(app->protocol, s->dscp_mapped);
	s->dscp_mode = !bitmap_empty(s->dscp_mapped, NICSIM_MAX_DSCP);
	return 0;
}

static u8 mlx5_getdcbx(struct net_device *d)
{
	return ((struct nicsim *)netdev_priv(d))->dcbx;
}

static u8 mlx5_setdcbx(struct net_device *d, u8 mode)
{
	struct nicsim *s = netdev_priv(d);

	if (mode & DCB_CAP_DCBX_LLD_MANAGED)
		return 1;
	if (!mode) {				/* back to the firmware's control */
		s->dcbx &= ~DCB_CAP_DCBX_HOST;
		return 0;
	}
	if (!(mode & DCB_CAP_DCBX_HOST))
		return 1;
	s->dcbx = mode;
	return 0;
}

static int mlx5_getmaxrate(struct net_device *d, struct ieee_maxrate *m)
{
	*m = ((struct nicsim *)netdev_priv(d))->maxrate;
	return 0;
}

static int mlx5_setmaxrate(struct net_device *d, struct ieee_maxrate *m)
{
	struct nicsim *s = netdev_priv(d);
	int i;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		u64 units = div_u64(m->tc_maxrate[i], RATE_UNIT_KBPS);

		if (m->tc_maxrate[i] && !units)
			units = 1;
		s->maxrate.tc_maxrate[i] = units * RATE_UNIT_KBPS;
	}
	return 0;
}

static int mlx5_getbuffer(struct net_device *d, struct dcbnl_buffer *b)
{
	*b = ((struct nicsim *)netdev_priv(d))->buf;
	return 0;
}

static int mlx5_setbuffer(struct net_device *d, struct dcbnl_buffer *b)
{
	struct nicsim *s = netdev_priv(d);
	u32 total = s->buf.total_size, used = 0;
	int i;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (b->prio2buffer[i] >= DCBX_MAX_BUFFERS)
			return -EINVAL;
		used += b->buffer_size[i];
	}
	if (used > total)
		return -EINVAL;
	s->buf = *b;
	s->buf.total_size = total;
	return 0;
}

static u8 mlx5_getcap(struct net_device *d, int capid, u8 *cap)
{
	switch (capid) {
	case DCB_CAP_ATTR_PG:
	case DCB_CAP_ATTR_PFC:
		*cap = true;
		break;
	case DCB_CAP_ATTR_PG_TCS:
	case DCB_CAP_ATTR_PFC_TCS:
		*cap = 1 << 7;
		break;
	case DCB_CAP_ATTR_DCBX:
		*cap = mlx5_getdcbx(d);
		break;
	default:
		*cap = 0;
	}
	return 0;
}

const struct dcbnl_rtnl_ops nicsim_mlx5_dcbnl = {
	.ieee_getets = mlx5_getets,
	.ieee_setets = mlx5_setets,
	.ieee_getmaxrate = mlx5_getmaxrate,
	.ieee_setmaxrate = mlx5_setmaxrate,
	.ieee_getpfc = mlx5_getpfc,
	.ieee_setpfc = mlx5_setpfc,
	.ieee_setapp = mlx5_setapp,
	.ieee_delapp = mlx5_delapp,
	.getcap = mlx5_getcap,
	.getdcbx = mlx5_getdcbx,
	.setdcbx = mlx5_setdcbx,
	.dcbnl_getbuffer = mlx5_getbuffer,
	.dcbnl_setbuffer = mlx5_setbuffer,
};

void nicsim_mlx5_init(struct nicsim *s)
{
	int i;

	s->dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_CEE | DCB_CAP_DCBX_VER_IEEE;
	s->ets.ets_cap = s->pfc.pfc_cap = IEEE_8021QAZ_MAX_TCS;
	s->pfc.delay = 7;			/* default cable length, in metres */
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		s->ets.tc_tx_bw[i] = 100;
		s->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_VENDOR;
		s->ets.prio_tc[i] = i;
	}
	s->ets.prio_tc[0] = 1;
	s->ets.prio_tc[1] = 0;
	for (i = 0; i < NICSIM_MAX_DSCP; i++)
		s->dscp_map[i] = i >> 3;
	s->rx_pause = s->tx_pause = 1;
	s->buf.buffer_size[0] = 262016;
	s->buf.total_size = 524160;
}
