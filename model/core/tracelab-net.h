/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-net: jobs of a trace in full: programs with their parallelism instead of one computation
 * and one all-reduce; see crux-tracelab.h.
 *
 * Place: model/core (C11), private. Depends on crux-tracecluster, crux-train, crux-wiring,
 * crux-progview.
 *
 * A net is a description with its factors. What it is on given GPUs depends on which ranks share a
 * host, on the GPUs there that they have, and on what the hosts are made of: its shape. Every shape
 * is made into a program, wired and run once (crux-progview.h), and kept. So a job that comes again
 * elsewhere costs the routes of its connections.
 */
#ifndef TRACELAB_NET_H
#define TRACELAB_NET_H

#include "crux-progview.h"
#include "crux-tracecluster.h"
#include "crux-train.h"

/* A net on GPUs of one shape. Connections: those that operations use which use the network. */
struct tracelab_shape {
	uint32_t *key; /* [n_key]: of each rank its host, by first appearance, and GPU; hosts */
	size_t n_key;
	struct crux_progview view;
	uint32_t n_conns;
	struct crux_conn *conns; /* [n_conns] */
	uint32_t *number;	 /* [n_conns] in the program's wiring, which draws ECMP's port */
	uint64_t *bytes;	 /* [n_conns] of an iteration */
	uint32_t *steps;	 /* [n_conns] */
};

struct tracelab_net {
	char *asked;	   /* the model that the trace's name stands for */
	char *description; /* of crux-train.h */
	bool smaller;	   /* it fits in no way: a smaller model stands for it */
	double bytes_factor, compute_factor;
	struct crux_train train;
	struct crux_progview nominal; /* on whole hosts */
	double network_s, nominal_s;  /* there: of crux-tracelab.h */
	struct tracelab_shape **shapes;
	uint32_t n_shapes;
	size_t cap_shapes;
};

/*
 * The model of that name on so many GPUs, as crux-parallelise.h spreads it. One that fits in no way
 * is replaced by the largest that is smaller and fits: of its family (the name up to the first
 * '-'), else of those of GPT-3.
 */
enum crux_status tracelab_net_create(const char *model, uint32_t gpus, uint32_t gpus_per_host,
				     double bytes_factor, double compute_factor,
				     struct tracelab_net **out, struct crux_error *err);
void tracelab_net_destroy(struct tracelab_net *net);

/*
 * Its shape on @p ranks [gpus] of the cluster; it belongs to the net. Not for several threads.
 */
enum crux_status tracelab_net_shape(struct tracelab_net *net,
				    const struct crux_tracecluster *cluster,
				    const struct crux_gpu_ref *ranks,
				    const struct tracelab_shape **out, struct crux_error *err);

void tracelab_shape_destroy(struct tracelab_shape *shape);

/* The most bytes that an iteration puts on a NIC, in or out, with ranks where @p ranks says. */
enum crux_status tracelab_shape_nic(const struct tracelab_shape *shape,
				    const struct crux_topology *topo,
				    const struct crux_gpu_ref *ranks, double *bytes,
				    struct crux_error *err);

#endif /* TRACELAB_NET_H */
