/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-operation: see crux-store-operation.h: what becomes which row, and what a build
 * without SQLite says. The statements, which number the rows, are in store-private.h.
 *
 * Place: model/core (C11). Depends on crux-store and its private header.
 */
#include "crux-store-operation.h"

#include "store-private.h"

#ifdef CRUX_HAVE_SQLITE
/* A row of a run begins with the run; its number comes from the statement. */
static struct store_row row_of(struct crux_store *store, enum statement which, int64_t run)
{
	struct store_row row = store_row_of(store, which);

	store_put_int(&row, run);
	return row;
}

/* -1 is not known. */
static void put_known(struct store_row *row, int64_t value)
{
	if (value == -1)
		store_put_null(row);
	else
		store_put_int(row, value);
}

enum crux_status crux_store_op_event(struct crux_store *store, int64_t run,
				     const struct crux_op_event *event, struct crux_error *err)
{
	struct store_row row = row_of(store, S_OP_EVENT, run);

	store_put_real(&row, event->at_s);
	store_put_real(&row, event->since_s);
	store_put_text(&row, event->kind, -1);
	put_known(&row, event->job);
	put_known(&row, event->host);
	put_known(&row, event->version);
	store_put_text(&row, event->text, -1);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_op_profile(struct crux_store *store, int64_t run,
				       const struct crux_op_profile *profile,
				       struct crux_error *err)
{
	const double figures[] = {
		profile->strength,	 profile->iteration_s,	      profile->flop,
		profile->compute_s,	 profile->overlap_start,      profile->t_s,
		profile->intensity,	 profile->true_iteration_s,   profile->true_flop,
		profile->true_compute_s, profile->true_overlap_start, profile->true_t_s,
		profile->true_intensity,
	};
	struct store_row row = row_of(store, S_OP_PROFILE, run);

	store_put_int(&row, profile->job);
	store_put_real(&row, profile->begun_s);
	store_put_real(&row, profile->ended_s);
	store_put_int(&row, profile->iterations);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		store_put_real(&row, figures[i]);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_op_probing(struct crux_store *store, int64_t run,
				       const struct crux_op_probing *probing,
				       struct crux_error *err)
{
	struct store_row row = row_of(store, S_OP_PROBING, run);

	store_put_text(&row, probing->src, -1);
	store_put_text(&row, probing->dst, -1);
	store_put_int(&row, probing->paths_met);
	store_put_int(&row, probing->paths_there);
	store_put_int(&row, probing->sent);
	store_put_int(&row, probing->lost);
	store_put_int(&row, probing->repeat);
	store_put_real(&row, probing->begun_s);
	store_put_real(&row, probing->ended_s);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_op_decision(struct crux_store *store, int64_t run,
					const struct crux_op_decision *decision,
					struct crux_error *err)
{
	struct store_row row = row_of(store, S_OP_DECISION, run);

	store_put_int(&row, decision->version);
	store_put_int(&row, decision->term);
	put_known(&row, decision->coordinator);
	store_put_real(&row, decision->news_s);
	store_put_real(&row, decision->decided_s);
	store_put_real(&row, decision->in_force_s);
	store_put_int(&row, decision->jobs);
	store_put_int(&row, decision->changed);
	store_put_text(&row, decision->trigger, -1);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_op_order(struct crux_store *store, int64_t run,
				     const struct crux_op_order *order, struct crux_error *err)
{
	struct store_row row = row_of(store, S_OP_ORDER, run);

	store_put_int(&row, order->version);
	store_put_int(&row, order->job);
	put_known(&row, order->level == UINT32_MAX ? -1 : (int64_t)order->level);
	store_put_int(&row, order->rank);
	store_put_real(&row, order->priority);
	store_put_real(&row, order->intensity);
	store_put_real(&row, order->shift_s);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_op_bin(struct crux_store *store, int64_t run,
				   const struct crux_op_bin *bin, struct crux_error *err)
{
	struct store_row row = row_of(store, S_OP_BIN, run);

	store_put_real(&row, bin->from_s);
	store_put_real(&row, bin->to_s);
	store_put_int(&row, bin->job);
	store_put_real(&row, bin->busy_gpu_s);
	store_put_int(&row, bin->gpus);
	store_put_int(&row, (int64_t)bin->iterations);
	return store_insert(store, &row, err);
}
#else
/* Nothing can be opened without SQLite, so that these are never reached with a store. */
#define ABSENT(name)                                                                               \
	enum crux_status crux_store_op_##name(struct crux_store *store, int64_t run,               \
					      const struct crux_op_##name *row,                    \
					      struct crux_error *err)                              \
	{                                                                                          \
		(void)store, (void)run, (void)row;                                                 \
		return store_absent(err);                                                          \
	}

ABSENT(event)
ABSENT(profile)
ABSENT(probing)
ABSENT(decision)
ABSENT(order)
ABSENT(bin)
#endif
