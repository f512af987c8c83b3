/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A module that does nothing but bear the name of a real driver: the NICs of nicsim show the driver "ice", and a node with
 * such NICs has modules ice and irdma loaded. Without the mark of out-of-tree modules, as the kernel's own.
 */
#include <linux/module.h>

MODULE_INFO(intree, "Y");
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Bears the name of a driver that nicsim stands for");
