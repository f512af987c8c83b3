// SPDX-License-Identifier: GPL-2.0
/* The net device: a cable between two functions, and the priority that a frame gets on it. */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/route.h>
#include "nicsim.h"

#define ROCE_UDP_PORT 4791

/* ToS byte of an IP frame, or -1; *roce tells RoCEv2 from the rest. */
static int frame_tos(struct sk_buff *skb, unsigned int off, __be16 proto, bool *roce)
{
	struct ipv6hdr ip6b, *ip6;
	struct iphdr ip4b, *ip4;
	struct udphdr udpb, *udp = NULL;
	int tos = -1;

	if (proto == htons(ETH_P_IP)) {
		ip4 = skb_header_pointer(skb, off, sizeof(ip4b), &ip4b);
		if (!ip4)
			return -1;
		tos = ip4->tos;
		if (ip4->protocol == IPPROTO_UDP)
			udp = skb_header_pointer(skb, off + ip4->ihl * 4, sizeof(udpb), &udpb);
	} else if (proto == htons(ETH_P_IPV6)) {
		ip6 = skb_header_pointer(skb, off, sizeof(ip6b), &ip6b);
		if (!ip6)
			return -1;
		tos = ipv6_get_dsfield(ip6);
		if (ip6->nexthdr == IPPROTO_UDP)
			udp = skb_header_pointer(skb, off + sizeof(ip6b), sizeof(udpb), &udpb);
	}
	*roce = udp && udp->dest == htons(ROCE_UDP_PORT);
	return tos;
}

/*
 * DSCP mode: the DSCP table. Otherwise the VLAN tag, or for untagged RoCE frames the priority that the RDMA drivers
 * take from the kernel's ToS table.
 */
static int frame_prio(const struct nicsim *s, struct sk_buff *skb)
{
	struct vlan_ethhdr vlanb, *vlan = skb_header_pointer(skb, 0, sizeof(vlanb), &vlanb);
	unsigned int off = ETH_HLEN;
	bool roce = false;
	__be16 proto;
	int tos, pcp = -1;

	if (!vlan)
		return 0;
	proto = vlan->h_vlan_proto;
	if (proto == htons(ETH_P_8021Q)) {
		pcp = ntohs(vlan->h_vlan_TCI) >> VLAN_PRIO_SHIFT;
		proto = vlan->h_vlan_encapsulated_proto;
		off = VLAN_ETH_HLEN;
	}
	tos = frame_tos(skb, off, proto, &roce);
	if (s->dscp_mode)
		return tos < 0 ? 0 : s->dscp_map[tos >> 2];
	if (pcp >= 0)
		return pcp;
	return roce ? rt_tos2priority(tos) & 7 : 0;
}

static void count(u64 *slot)
{
	if (slot)
		(*slot)++;
}

static netdev_tx_t nicsim_xmit(struct sk_buff *skb, struct net_device *d)
{
	struct nicsim *s = netdev_priv(d), *ps;
	unsigned int len = skb->len;
	int prio = frame_prio(s, skb);
	struct net_device *peer;

	rcu_read_lock();
	peer = rcu_dereference(s->peer);
	skb_tx_timestamp(skb);
	if (!peer) {
		kfree_skb(skb);
		s->tx_dropped++;
		goto out;
	}
	ps = netdev_priv(peer);
	s->tx_packets++;
	s->tx_bytes += len;
	s->tx_by_prio[prio]++;
	count(s->prio_tx[prio]);
	prio = frame_prio(ps, skb);
	if (dev_forward_skb(peer, skb) != NET_RX_SUCCESS) {
		count(ps->rx_drop);
		goto out;
	}
	ps->rx_packets++;
	ps->rx_bytes += len;
	ps->rx_by_prio[prio]++;
	count(ps->prio_rx[prio]);
out:
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

static void update_carrier(struct net_device *d)
{
	struct net_device *peer = rtnl_dereference(((struct nicsim *)netdev_priv(d))->peer);

	if (peer && netif_running(d) && netif_running(peer)) {
		netif_carrier_on(d);
		netif_carrier_on(peer);
	} else {
		netif_carrier_off(d);
		if (peer)
			netif_carrier_off(peer);
	}
}

static int nicsim_open(struct net_device *d)
{
	netif_start_queue(d);
	update_carrier(d);
	return 0;
}

static int nicsim_stop(struct net_device *d)
{
	netif_stop_queue(d);
	update_carrier(d);
	return 0;
}

static void nicsim_stats64(struct net_device *d, struct rtnl_link_stats64 *st)
{
	struct nicsim *s = netdev_priv(d);

	st->tx_packets = s->tx_packets;
	st->tx_bytes = s->tx_bytes;
	st->rx_packets = s->rx_packets;
	st->rx_bytes = s->rx_bytes;
	st->tx_dropped = s->tx_dropped;
	st->rx_dropped = s->rx_drop ? *s->rx_drop : 0;
}

const struct net_device_ops nicsim_ndo = {
	.ndo_open = nicsim_open,
	.ndo_stop = nicsim_stop,
	.ndo_start_xmit = nicsim_xmit,
	.ndo_get_stats64 = nicsim_stats64,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

void nicsim_cable(struct nicsim *s, struct net_device *peer)
{
	if (!peer)
		return;
	rtnl_lock();
	rcu_assign_pointer(s->peer, peer);
	rcu_assign_pointer(((struct nicsim *)netdev_priv(peer))->peer, s->ndev);
	update_carrier(s->ndev);
	rtnl_unlock();
}

void nicsim_uncable(struct nicsim *s)
{
	struct net_device *peer;

	rtnl_lock();
	peer = rtnl_dereference(s->peer);
	if (peer) {
		RCU_INIT_POINTER(((struct nicsim *)netdev_priv(peer))->peer, NULL);
		RCU_INIT_POINTER(s->peer, NULL);
		netif_carrier_off(peer);
	}
	netif_carrier_off(s->ndev);
	rtnl_unlock();
	synchronize_net();
}
