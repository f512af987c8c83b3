// SPDX-License-Identifier: GPL-2.0
/* DCB as the ice driver handles it. The rules and their sources stand in README.md. */
#include "nicsim.h"

static bool has_dscp_feature(const struct nicsim *s)
{
	static const u16 e810[] = { 0x1591, 0x1592, 0x1593, 0x1599, 0x159a, 0x159b };
	int i;

	for (i = 0; i < ARRAY_SIZE(e810); i++)
		if (s->f->device == e810[i])
			return true;
	return false;
}

static bool managed(const struct nicsim *s)
{
	return s->dcbx & DCB_CAP_DCBX_LLD_MANAGED;
}

static bool writable(const struct nicsim *s)
{
	return !managed(s) && (s->dcbx & DCB_CAP_DCBX_VER_IEEE);
}

/* One TC, no PFC, no APP entry of the kernel's table. */
static void default_cfg(struct nicsim *s, bool willing)
{
	memset(&s->ets, 0, sizeof(s->ets));
	memset(&s->pfc, 0, sizeof(s->pfc));
	s->ets.willing = willing;
	s->ets.ets_cap = s->max_tc;
	s->ets.tc_tx_bw[0] = 100;
	s->ets.tc_tsa[0] = IEEE_8021QAZ_TSA_ETS;
	s->pfc.pfc_cap = s->max_tc;
	s->dscp_mode = false;
}

/* Number of TCs in use, or 1 if they do not follow each other from 0. */
static int num_tc(const struct ieee_ets *e, bool *contiguous)
{
	unsigned long used = 0;
	int i, n;

	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++)
		__set_bit(e->prio_tc[i], &used);
	n = ffz(used);
	*contiguous = !(used >> n);
	if (!*contiguous)
		pr_err("Non-contiguous TCs - Disabling DCB\n");
	return *contiguous ? max(n, 1) : 1;
}

/* ---------------------------------------------------------------- ETS and PFC */

static int ice_getets(struct net_device *d, struct ieee_ets *e)
{
	struct nicsim *s = netdev_priv(d);

	if (s->ets_errno)
		return -(int)s->ets_errno;
	*e = s->ets;
	memcpy(e->tc_rx_bw, e->tc_tx_bw, sizeof(e->tc_rx_bw));
	memcpy(e->tc_reco_bw, e->tc_tx_bw, sizeof(e->tc_reco_bw));
	memcpy(e->tc_reco_tsa, e->tc_tsa, sizeof(e->tc_reco_tsa));
	memcpy(e->reco_prio_tc, e->prio_tc, sizeof(e->reco_prio_tc));
	return 0;
}

static int ice_setets(struct net_device *d, struct ieee_ets *e)
{
	struct nicsim *s = netdev_priv(d);
	struct ieee_ets new = s->ets;
	bool contiguous;
	int i, n, bw = 0;

	if (!writable(s))
		return -EINVAL;
	new.willing = e->willing;
	new.cbs = e->cbs;
	memcpy(new.tc_tx_bw, e->tc_tx_bw, sizeof(new.tc_tx_bw));
	memcpy(new.tc_tsa, e->tc_tsa, sizeof(new.tc_tsa));
	for (i = 0; i < IEEE_8021QAZ_MAX_TCS; i++) {
		if (e->prio_tc[i] >= IEEE_8021QAZ_MAX_TCS)
			return -EINVAL;
		if (!s->dscp_mode)
			new.prio_tc[i] = e->prio_tc[i];
	}
	n = num_tc(&new, &contiguous);
	for (i = 0; i < n; i++)
		bw += new.tc_tx_bw[i];
	if (n == 1 || !bw) {
		new.tc_tx_bw[0] = 100;
	} else if (bw != 100) {
		pci_err(s->pdev, "Invalid config, total bandwidth must equal 100\n");
		return -EINVAL;
	}
	if (contiguous)
		s->ets = new;
	else
		default_cfg(s, true);
	return 0;
}

static int ice_getpfc(struct net_device *d, struct ieee_pfc *p)
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

static int ice_setpfc(struct net_device *d, struct ieee_pfc *p)
{
	struct nicsim *s = netdev_priv(d);

	if (!writable(s))
		return -EINVAL;
	s->pfc.pfc_cap = p->pfc_cap ?: s->max_tc;
	s->pfc.pfc_en = p->pfc_en;
	return 0;
}

/* ---------------------------------------------------------------- APP and L3 DSCP mode */

static void enter_dscp_mode(struct nicsim *s)
{
	int i, j, dscp;

	netdev_info(s->ndev, "Switched QoS to L3 DSCP mode\n");
	s->dscp_mode = true;
	s->ets.willing = 0;
	s->pfc.pfc_cap = s->max_tc;
	for (i = 0; i < s->max_tc; i++)
		for (j = 0; j < 8; j++) {
			dscp = i * s->max_tc + j;	/* with 4 TCs this leaves 20-31 and 52-63 alone */
			s->dscp_map[dscp] = i;
			if (s->max_tc < IEEE_8021QAZ_MAX_TCS)
				s->dscp_map[dscp + s->max_tc * 8] = i;
		}
	for (i = 0; i < s->max_tc; i++) {
		s->ets.tc_tx_bw[i] = i ? 0 : 100;
		s->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
		s->ets.prio_tc[i] = i;
	}
}

static int ice_setapp(struct net_device *d, struct dcb_app *app)
{
	struct nicsim *s = netdev_priv(d);
	int err;

	if (app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return -EINVAL;
	if (managed(s)) {
		netdev_err(d, "can't do DSCP QoS when FW DCB agent active\n");
		return -EINVAL;
	}
	if (!writable(s) || app->protocol >= NICSIM_MAX_DSCP)
		return -EINVAL;
	if (!has_dscp_feature(s))
		return -EOPNOTSUPP;
	if (app->priority >= s->max_tc) {
		netdev_err(d, "TC %d out of range, max TC %d\n", app->priority, s->max_tc);
		return -EINVAL;
	}
	err = dcb_ieee_setapp(d, app);
	if (err)
		return err;
	if (test_and_set_bit(app->protocol, s->dscp_mapped)) {
		netdev_err(d, "DSCP value 0x%04X already user mapped\n", app->protocol);
		dcb_ieee_delapp(d, app);
		return -EINVAL;
	}
	if (!s->dscp_mode)
		enter_dscp_mode(s);
	s->dscp_map[app->protocol] = app->priority;
	return 0;
}

static int ice_delapp(struct net_device *d, struct dcb_app *app)
{
	struct nicsim *s = netdev_priv(d);
	int err;

	if (managed(s)) {
		netdev_err(d, "can't delete DSCP netlink app when FW DCB agent is active\n");
		return -EINVAL;
	}
	err = dcb_ieee_delapp(d, app);
	if (err || app->selector != IEEE_8021QAZ_APP_SEL_DSCP)
		return err;
	clear_bit(app->protocol, s->dscp_mapped);
	s->dscp_map[app->protocol] = app->protocol % 8;
	if (s->dscp_mode && bitmap_empty(s->dscp_mapped, NICSIM_MAX_DSCP)) {
		netdev_info(d, "Switched QoS to L2 VLAN mode\n");
		default_cfg(s, true);
	}
	return 0;
}

/* ---------------------------------------------------------------- DCBX, capabilities, firmware LLDP agent */

static u8 ice_getdcbx(struct net_device *d)
{
	return ((struct nicsim *)netdev_priv(d))->dcbx;
}

static u8 ice_setdcbx(struct net_device *d, u8 mode)
{
	struct nicsim *s = netdev_priv(d);
	bool ieee = mode & DCB_CAP_DCBX_VER_IEEE, cee = mode & DCB_CAP_DCBX_VER_CEE;

	if (s->f->fw_lldp || (mode & DCB_CAP_DCBX_LLD_MANAGED) || (ieee && cee) || !(mode & DCB_CAP_DCBX_HOST) ||
	    mode == s->dcbx || s->dscp_mode)
		return 1;
	s->dcbx = mode;
	pci_info(s->pdev, "DCBx mode = 0x%x\n", mode);
	return 0;
}

static u8 ice_getcap(struct net_device *d, int capid, u8 *cap)
{
	switch (capid) {
	case DCB_CAP_ATTR_PG:
	case DCB_CAP_ATTR_PFC:
		*cap = true;
		break;
	case DCB_CAP_ATTR_PG_TCS:
	case DCB_CAP_ATTR_PFC_TCS:
		*cap = 0x80;
		break;
	case DCB_CAP_ATTR_DCBX:
		*cap = ice_getdcbx(d);
		break;
	default:
		*cap = false;
	}
	return 0;
}

static int ice_getnumtcs(struct net_device *d, int id, u8 *num)
{
	*num = ((struct nicsim *)netdev_priv(d))->max_tc;
	return 0;
}

static u8 ice_getpfcstate(struct net_device *d)
{
	return !!((struct nicsim *)netdev_priv(d))->pfc.pfc_en;
}

static u8 ice_getstate(struct net_device *d)
{
	return 1;
}

const struct dcbnl_rtnl_ops nicsim_ice_dcbnl = {
	.ieee_getets = ice_getets,
	.ieee_setets = ice_setets,
	.ieee_getpfc = ice_getpfc,
	.ieee_setpfc = ice_setpfc,
	.ieee_setapp = ice_setapp,
	.ieee_delapp = ice_delapp,
	.getstate = ice_getstate,
	.getcap = ice_getcap,
	.getnumtcs = ice_getnumtcs,
	.getpfcstate = ice_getpfcstate,
	.getdcbx = ice_getdcbx,
	.setdcbx = ice_setdcbx,
};

/* What the firmware agent agrees with the switch on: the mask of the knob fw_pfc_en, every priority its own TC. */
void nicsim_ice_negotiate(struct nicsim *s)
{
	int i;

	if (!managed(s))
		return;
	default_cfg(s, true);
	s->pfc.pfc_en = s->fw_pfc_en;
	for (i = 0; s->fw_pfc_en && i < s->max_tc; i++) {
		s->ets.prio_tc[i] = i;
		s->ets.tc_tsa[i] = IEEE_8021QAZ_TSA_ETS;
		s->ets.tc_tx_bw[i] = 100 / s->max_tc + (i < 100 % s->max_tc);
	}
}

static void start_mode(struct nicsim *s)
{
	s->dcbx = DCB_CAP_DCBX_VER_IEEE | (s->f->fw_lldp ? DCB_CAP_DCBX_LLD_MANAGED : DCB_CAP_DCBX_HOST);
	default_cfg(s, true);
	bitmap_zero(s->dscp_mapped, NICSIM_MAX_DSCP);
	if (s->f->fw_lldp)
		nicsim_ice_negotiate(s);
	else
		pci_info(s->pdev, "FW LLDP is disabled, DCBx/LLDP in SW mode.\n");
}

void nicsim_ice_init(struct nicsim *s)
{
	pci_info(s->pdev, "DCB is enabled in the hardware, max number of TCs supported on this port are %d\n",
		 s->max_tc);
	start_mode(s);
}

int nicsim_ice_set_agent(struct nicsim *s, bool on)
{
	if (on == s->f->fw_lldp)
		return 0;
	if (on && s->dscp_mode) {
		pci_err(s->pdev, "QoS in L3 DSCP mode, FW Agent not allowed to start\n");
		return -EOPNOTSUPP;
	}
	s->f->fw_lldp = on;
	start_mode(s);
	return 0;
}
