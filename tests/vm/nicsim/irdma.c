// SPDX-License-Identifier: GPL-2.0
/* An empty module of that name: on a real node the RDMA driver is loaded; here rxe does its work. */
#include <linux/module.h>

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Stand-in for the name irdma in tests");
