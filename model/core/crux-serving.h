/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-serving: a search service: an index in shards, queries that fan out to all of them and
 * answers that fan in; how long a shard takes for a batch, whether it fits, energy, closed forms.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu.
 *
 * Time of a batch of b queries on a shard (rooflines of crux-gpu.h; a processor is described by the
 * same struct as a GPU), the sum of
 *   scan: F = 2 b share documents dimensions FLOP (a product and a sum an element),
 *         M = (1 - (1 - share)^b) index_bytes: queries choose their part of the index
 *         independently, and what several of them read is read once;
 *   rank: F = 2 b candidates tokens parameters FLOP (a transformer's forward pass; attention's part
 *         that grows with the square of the length is left out: the sequences are short),
 *         M = parameters x bytes of a number: weights are read once a batch.
 * Saturation of a service: batch / time of a full batch (every query visits every shard, and b /
 * time never falls in b); of the frontend's cable: rate / (8 x bytes on the wire of all shards'
 * messages of a query), the smaller of fan-out and fan-in. Poisson queries at rate L, one server of
 * fixed time s, no batching (M/D/1, r = L s < 1): mean wait = r s / (2 (1 - r)). Energy of a shard
 * over a span: crux_gpu_energy_j() + host_w x span. The frontend's is left out.
 */
#ifndef CRUX_SERVING_H
#define CRUX_SERVING_H

#include "crux-base.h"
#include "crux-gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A service. Ranges are those of crux_search_check(). */
struct crux_search {
	const char *name;	  /**< in error lines */
	uint32_t shards;	  /**< each on a device of its own, 1..65536 */
	uint64_t index_bytes;	  /**< of a shard, in its device's memory, 1..2^53 */
	uint64_t documents;	  /**< of a shard, 1..2^53 */
	uint32_t dimensions;	  /**< of a document's vector, >= 1 */
	double scan_share;	  /**< of the index, that a query reads, (0, 1]; 1: all */
	uint32_t scan_launches;	  /**< kernels of a scan */
	double rank_parameters;	  /**< of the ranking transformer, >= 0; 0: none */
	double rank_tokens;	  /**< of query and document together, >= 0 */
	uint32_t rank_candidates; /**< documents that a shard ranks for a query */
	uint32_t rank_launches;	  /**< kernels of a ranking */
	uint64_t query_bytes;	  /**< of a query (its embedding), to each shard, 1..2^40 */
	uint64_t answer_bytes;	  /**< of a shard's top k, back, 1..2^40 */
	uint32_t batch;		  /**< most queries of a batch, >= 1 */
	double batch_delay_s;	  /**< longest that a query waits for its batch to fill, >= 0 */
	double rate_qps;	  /**< queries that come a second, > 0 */
};

/** Retrieval of 100 answers among 4 M vectors of 128 numbers in fp16 on each of 8 shards (1 GB), 2
 * % of which a query reads; no ranking; batches of 16, 500 us. */
void crux_search_default(struct crux_search *search);
/** CRUX_RANGE with the service's name, the field and its value. */
enum crux_status crux_search_check(const struct crux_search *search, struct crux_error *err);

/** A processor socket as a server. */
struct crux_search_cpu {
	uint32_t cores;
	double hz;
	double flop_per_cycle; /**< of a core, fp32 */
	double achieved;       /**< fraction of the peak, (0, 1] */
	double memory_Bps;
	uint64_t memory_bytes;
	double idle_w, busy_w;
	double nj_per_byte; /**< of a byte through the NIC */
};
/** 32 cores of 3 GHz, two 256-bit multiply-adds a cycle (32 FLOP), half achieved, 100 GB/s, 256
 * GiB, 80 to 205 W: assumptions of the size of a server processor of 2021. */
void crux_search_cpu_default(struct crux_search_cpu *cpu);

/** What a shard runs on. */
struct crux_search_server {
	struct crux_gpu device;
	enum crux_precision precision; /**< of scan and ranking */
	bool gpu;		       /**< else a processor socket */
	double host_w;		       /**< power of the shard's part of the rest of its host, W */
};
/** A processor computes in fp32. CRUX_RANGE with the field and its value. */
enum crux_status crux_search_server_cpu(const struct crux_search_cpu *cpu,
					struct crux_search_server *out, struct crux_error *err);
/** A GPU by name (crux_gpu_find). CRUX_INVALID when it lacks the precision. */
enum crux_status crux_search_server_gpu(const char *name, enum crux_precision precision,
					struct crux_search_server *out, struct crux_error *err);

/** Bytes that a shard needs in its device's memory: index and weights. */
double crux_search_memory_bytes(const struct crux_search *search,
				const struct crux_search_server *server);
/** CRUX_CAPACITY says by how many bytes it does not fit, and how many shards would. */
enum crux_status crux_search_fits(const struct crux_search *search,
				  const struct crux_search_server *server, struct crux_error *err);

/** Part of the index that a batch of @p queries reads, [0, 1]. */
double crux_search_part(const struct crux_search *search, uint32_t queries);
/** Seconds of a batch of @p queries on a shard; 0 for none. */
double crux_search_batch_s(const struct crux_search *search,
			   const struct crux_search_server *server, uint32_t queries);
/** Queries a second at which the shards are saturated. */
double crux_search_capacity_qps(const struct crux_search *search,
				const struct crux_search_server *server);
/** Queries a second at which a frontend's cable of @p bps is saturated; @p payload of a packet. */
double crux_search_network_qps(const struct crux_search *search, double bps, uint32_t payload);
/** Joules of a shard that was busy for @p busy_s of @p span_s and answered @p queries. */
double crux_search_energy_j(const struct crux_search *search,
			    const struct crux_search_server *server, double busy_s, double span_s,
			    double queries);

/** Mean wait of M/D/1, seconds; INFINITY from saturation on. */
double crux_md1_wait_s(double rate, double service_s);
/** Mean wait for a batch of @p batch Poisson queries to fill, over its queries:
 * (batch - 1) / (2 rate). */
double crux_batch_fill_s(double rate, uint32_t batch);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_SERVING_H */
