/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-wiring: a program on a placed job: every connection that it uses, with its route, and
 * for each operation the lanes and the connections that carry them.
 *
 * Place: model/core (C11). Depends on crux-program, crux-collective, crux-topology, crux-workload.
 *
 * A connection goes from one rank's GPU (or the memory of its host) to another's, for one group
 * and channel. Routes: two GPUs of one host over NVLink through the NVSwitch where the host has
 * one, else over PCIe; GPUs of two hosts GPU -> PCIe switch -> NIC -> network -> NIC -> PCIe switch
 * -> GPU, each at its nearest NIC; host memory through the CPU (root complex).
 * Every connection is a crux_flow of the scheduling problem: its bytes are those of one
 * iteration; steps its dependent messages in an iteration.
 */
#ifndef CRUX_WIRING_H
#define CRUX_WIRING_H

#include "crux-program.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_conn {
	uint32_t group, channel;
	uint32_t src, dst;	     /**< ranks; of a copy both are the copying rank */
	bool src_memory, dst_memory; /**< that end is host memory */
	bool storage;		     /**< host memory is the storage host's */
	bool network;		     /**< leaves the host: a queue pair at packet level */
};

/** An operation's use of the wiring. */
struct crux_wired_op {
	const struct crux_coll
		*coll;	      /**< COLLECTIVE with lanes: shared by operations alike; else NULL */
	const uint32_t *conn; /**< COLLECTIVE: [lanes]; COPY: [ranks of the group] */
};

struct crux_wiring {
	const struct crux_program *program;
	uint32_t n_conns;
	struct crux_conn *conns;   /**< [n_conns]: connection i is flow first_flow + i of the job */
	uint64_t *bytes;	   /**< [n_conns] of one iteration */
	uint32_t *steps;	   /**< [n_conns] dependent messages of one iteration, >= 1 */
	struct crux_wired_op *ops; /**< [n_ops] */
	/* private: */
	struct crux_coll **colls;
	uint32_t n_colls;
	uint32_t *pool;
};

/** @p gpus: [n_ranks], where each rank is. The program must outlive the wiring. */
enum crux_status crux_wiring_create(const struct crux_program *program,
				    const struct crux_gpu_ref *gpus,
				    const struct crux_topology *topo, struct crux_wiring **out,
				    struct crux_error *err);
void crux_wiring_destroy(struct crux_wiring *wiring);

/**
 * The connections as flows of the problem (crux_job_flows' twin): @p flows has n_conns. Source
 * ports are drawn from (@p seed, @p job_id, number of the connection).
 */
enum crux_status crux_wiring_flows(const struct crux_wiring *wiring,
				   const struct crux_gpu_ref *gpus, uint32_t index, int64_t job_id,
				   const char *job_name, const struct crux_topology *topo,
				   struct crux_router *router, uint64_t seed,
				   struct crux_flow *flows, struct crux_error *err);

/**
 * Where ranks are, as crux_coll_params and crux_train_program() want it: [2 n], the hosts of all,
 * then the NICs of their GPUs in them. The caller frees it with crux_free; NULL: out of memory.
 */
uint32_t *crux_wiring_places(const struct crux_topology *topo, const struct crux_gpu_ref *gpus,
			     uint32_t n);

/**
 * The path of one connection: fixed links, candidates, NICs, and, with flow->ecmp_port set, the
 * hash's candidate. The rest of @p flow stays as it is.
 */
enum crux_status crux_conn_route(const struct crux_conn *conn, const struct crux_gpu_ref *gpus,
				 uint32_t storage_host, const struct crux_topology *topo,
				 struct crux_router *router, struct crux_flow *flow,
				 struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_WIRING_H */
