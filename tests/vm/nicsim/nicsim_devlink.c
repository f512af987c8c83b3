// SPDX-License-Identifier: GPL-2.0
/* devlink: info, parameters, eswitch mode, one health reporter; and the auxiliary device that RDMA drivers bind to. */
#include "nicsim.h"

/* ---------------------------------------------------------------- info */

static const struct nicsim_version ice_versions[] = {
	{ NICSIM_FIXED, "board.id", "K91258-006" },
	{ NICSIM_RUNNING, "fw.mgmt", "7.4.13" },
	{ NICSIM_RUNNING, "fw.mgmt.api", "1.7.11" },
	{ NICSIM_RUNNING, "fw.mgmt.build", "0xded4446f" },
	{ NICSIM_RUNNING, "fw.undi", "1.3534.0" },
	{ NICSIM_STORED, "fw.undi", "" },
	{ NICSIM_RUNNING, "fw.psid.api", "4.40" },
	{ NICSIM_STORED, "fw.psid.api", "" },
	{ NICSIM_RUNNING, "fw.bundle_id", "0x8001c967" },
	{ NICSIM_STORED, "fw.bundle_id", "" },
	{ NICSIM_RUNNING, "fw.app.name", "ICE OS Default Package" },
	{ NICSIM_RUNNING, "fw.app", "1.3.36.0" },
	{ NICSIM_RUNNING, "fw.app.bundle_id", "0xc0000001" },
	{ NICSIM_RUNNING, "fw.netlist", "4.4.5000-1.14.0" },
	{ NICSIM_STORED, "fw.netlist", "" },
	{ NICSIM_RUNNING, "fw.netlist.build", "0x4a1c5a2e" },
	{ NICSIM_STORED, "fw.netlist.build", "" },
};

static const struct nicsim_version mlx5_versions[] = {
	{ NICSIM_FIXED, "fw.psid", "MT_0000000359" },
	{ NICSIM_RUNNING, "fw.version", "22.39.2048" },
	{ NICSIM_RUNNING, "fw", "22.39.2048" },
	{ NICSIM_STORED, "fw.version", "" },
	{ NICSIM_STORED, "fw", "" },
};

void nicsim_versions_init(struct nicsim_func *f)
{
	if (f->kind == NICSIM_ICE) {
		f->nver = ARRAY_SIZE(ice_versions);
		memcpy(f->ver, ice_versions, sizeof(ice_versions));
	} else if (f->kind == NICSIM_MLX5) {
		f->nver = ARRAY_SIZE(mlx5_versions);
		memcpy(f->ver, mlx5_versions, sizeof(mlx5_versions));
	}
}

const char *nicsim_version(const struct nicsim_func *f, const char *key)
{
	int i;

	for (i = 0; i < f->nver; i++)
		if (f->ver[i].type != NICSIM_STORED && !strcmp(f->ver[i].key, key))
			return f->ver[i].value;
	return "";
}

static const char *shown_value(const struct nicsim *s, const struct nicsim_version *v)
{
	if (s->safe_mode && !strcmp(v->key, "fw.app.name"))
		return "";
	if (s->safe_mode && !strcmp(v->key, "fw.app"))
		return "0.0.0.0";
	if (s->safe_mode && !strcmp(v->key, "fw.app.bundle_id"))
		return "0x00000000";
	if (v->type == NICSIM_STORED && !v->value[0])
		return nicsim_version(s->f, v->key);
	return v->value;
}

static int put_version(struct devlink_info_req *req, const struct nicsim_version *v, const char *value)
{
	switch (v->type) {
	case NICSIM_FIXED:
		return devlink_info_version_fixed_put(req, v->key, value);
	case NICSIM_RUNNING:
		return devlink_info_version_running_put(req, v->key, value);
	default:
		return devlink_info_version_stored_put(req, v->key, value);
	}
}

static struct nicsim *of(struct devlink *dl)
{
	return *(struct nicsim **)devlink_priv(dl);
}

static int info_get(struct devlink *dl, struct devlink_info_req *req, struct netlink_ext_ack *ack)
{
	struct nicsim *s = of(dl);
	const char *value;
	char serial[32];
	u64 dsn = pci_get_dsn(s->pdev);
	__be64 be = cpu_to_be64(dsn);
	int i, err = 0;

	if (s->info_errno) {
		NL_SET_ERR_MSG(ack, "Device is busy resetting");
		return -(int)s->info_errno;
	}
	snprintf(serial, sizeof(serial), "%8phD", &be);
	if (s->f->kind == NICSIM_ICE)
		err = devlink_info_serial_number_put(req, serial);
	for (i = 0; i < s->f->nver && !err; i++) {
		value = shown_value(s, &s->f->ver[i]);
		if (value[0])
			err = put_version(req, &s->f->ver[i], value);
	}
	return err;
}

static int eswitch_mode_get(struct devlink *dl, u16 *mode)
{
	*mode = DEVLINK_ESWITCH_MODE_LEGACY;
	return 0;
}

static const struct devlink_ops devlink_ops = { .info_get = info_get, .eswitch_mode_get = eswitch_mode_get };
static const struct devlink_ops plain_devlink_ops = { .info_get = info_get };

/* ---------------------------------------------------------------- auxiliary device */

static void aux_release(struct device *dev)
{
	kfree(to_auxiliary_dev(dev));
}

static void aux_unplug(struct nicsim *s)
{
	if (!s->aux)
		return;
	auxiliary_device_delete(s->aux);
	auxiliary_device_uninit(s->aux);
	s->aux = NULL;
}

static int aux_plug(struct nicsim *s)
{
	struct auxiliary_device *aux;
	int err;

	aux_unplug(s);
	if (!s->rdma_capable || (!s->roce && !s->iwarp))
		return 0;
	aux = kzalloc(sizeof(*aux), GFP_KERNEL);
	if (!aux)
		return -ENOMEM;
	aux->name = s->f->kind == NICSIM_MLX5 ? "rdma" : s->roce ? "roce" : "iwarp";
	aux->id = s->f - nicsim_func;
	aux->dev.parent = &s->pdev->dev;
	aux->dev.release = aux_release;
	err = auxiliary_device_init(aux);
	if (err) {
		kfree(aux);
		return err;
	}
	err = __auxiliary_device_add(aux, s->f->drvname);
	if (err) {
		auxiliary_device_uninit(aux);
		return err;
	}
	s->aux = aux;
	return 0;
}

/* ---------------------------------------------------------------- parameters */

static bool *param_of(struct nicsim *s, u32 id)
{
	return id == DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE ? &s->roce : &s->iwarp;
}

static int ice_param_get(struct devlink *dl, u32 id, struct devlink_param_gset_ctx *ctx)
{
	ctx->val.vbool = *param_of(of(dl), id);
	return 0;
}

static int ice_param_set(struct devlink *dl, u32 id, struct devlink_param_gset_ctx *ctx, struct netlink_ext_ack *ack)
{
	struct nicsim *s = of(dl);

	*param_of(s, id) = ctx->val.vbool;
	return aux_plug(s);
}

static int ice_param_validate(struct devlink *dl, u32 id, union devlink_param_value val, struct netlink_ext_ack *ack)
{
	struct nicsim *s = of(dl);
	bool other = id == DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE ? s->iwarp : s->roce;

	if (!s->rdma_capable)
		return -EOPNOTSUPP;
	if (other) {
		NL_SET_ERR_MSG(ack, "This device cannot enable iWARP and RoCEv2 simultaneously");
		return -EOPNOTSUPP;
	}
	return 0;
}

static const struct devlink_param ice_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_RUNTIME), ice_param_get, ice_param_set,
			      ice_param_validate),
	DEVLINK_PARAM_GENERIC(ENABLE_IWARP, BIT(DEVLINK_PARAM_CMODE_RUNTIME), ice_param_get, ice_param_set,
			      ice_param_validate),
};

static const struct devlink_param mlx5_params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_ROCE, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL, NULL),
};

/* ---------------------------------------------------------------- health, set-up */

static int recover(struct devlink_health_reporter *r, void *ctx, struct netlink_ext_ack *ack)
{
	return 0;
}

static const struct devlink_health_reporter_ops ice_health = { .name = "tx_hang", .recover = recover };
static const struct devlink_health_reporter_ops mlx5_health = { .name = "fw_fatal", .recover = recover };

int nicsim_devlink_init(struct nicsim *s)
{
	enum nicsim_kind kind = s->f->kind;
	union devlink_param_value on = { .vbool = true };
	struct devlink *dl;
	int err = 0;

	dl = devlink_alloc(kind == NICSIM_PLAIN ? &plain_devlink_ops : &devlink_ops, sizeof(s), &s->pdev->dev);
	if (!dl)
		return -ENOMEM;
	s->devlink = dl;
	*(struct nicsim **)devlink_priv(dl) = s;
	devl_lock(dl);
	if (kind == NICSIM_ICE) {
		err = devl_params_register(dl, ice_params, ARRAY_SIZE(ice_params));
	} else if (kind == NICSIM_MLX5) {
		err = devl_params_register(dl, mlx5_params, ARRAY_SIZE(mlx5_params));
		if (!err)
			devl_param_driverinit_value_set(dl, DEVLINK_PARAM_GENERIC_ID_ENABLE_ROCE, on);
	}
	if (!err && kind != NICSIM_PLAIN) {
		s->health = devl_health_reporter_create(dl, kind == NICSIM_ICE ? &ice_health : &mlx5_health, 0, s);
		if (IS_ERR(s->health))
			s->health = NULL;
	}
	if (!err)
		devl_register(dl);
	devl_unlock(dl);
	if (err) {
		devlink_free(dl);
		return err;
	}
	err = aux_plug(s);
	if (err)
		nicsim_devlink_exit(s);
	return err;
}

void nicsim_devlink_exit(struct nicsim *s)
{
	struct devlink *dl = s->devlink;

	devl_lock(dl);
	aux_unplug(s);
	devl_unregister(dl);
	if (s->health)
		devl_health_reporter_destroy(s->health);
	if (s->f->kind == NICSIM_ICE)
		devl_params_unregister(dl, ice_params, ARRAY_SIZE(ice_params));
	else if (s->f->kind == NICSIM_MLX5)
		devl_params_unregister(dl, mlx5_params, ARRAY_SIZE(mlx5_params));
	devl_unlock(dl);
	devlink_free(dl);
}
