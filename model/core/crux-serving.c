/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-serving: see crux-serving.h. Depends on crux-base, crux-gpu, crux-scenario (a
 * frame's overhead).
 */
#include "crux-serving.h"

#include "crux-scenario.h"

#include <inttypes.h>
#include <math.h>

#define MOST_BYTES   ((uint64_t)1 << 53) /* whole in a double */
#define MOST_MESSAGE ((uint64_t)1 << 40)

void crux_search_default(struct crux_search *search)
{
	*search = (struct crux_search){
		.name = "search",
		.shards = 8,
		.index_bytes = 1024000000,
		.documents = 4000000,
		.dimensions = 128,
		.scan_share = 0.02,
		.scan_launches = 2,
		.rank_tokens = 64,
		.rank_candidates = 100,
		.rank_launches = 60,
		.query_bytes = 256,
		.answer_bytes = 1200,
		.batch = 16,
		.batch_delay_s = 500e-6,
		.rate_qps = 1000,
	};
}

static const char *name_of(const struct crux_search *search)
{
	return search->name ? search->name : "search";
}

/* A number with its range; low may be excluded. */
struct range {
	const char *field;
	double value, low, high;
	bool above; /* value > low instead of >= */
};

static enum crux_status check_ranges(const char *name, const struct range *ranges, size_t n,
				     struct crux_error *err)
{
	size_t i;

	for (i = 0; i < n; i++) {
		const struct range *r = &ranges[i];

		if (!(r->value >= r->low && r->value <= r->high) ||
		    (r->above && r->value == r->low))
			return crux_fail(err, CRUX_RANGE, "%s: %s is %.17g, not in %c%g, %g]", name,
					 r->field, r->value, r->above ? '(' : '[', r->low, r->high);
	}
	return CRUX_OK;
}

enum crux_status crux_search_check(const struct crux_search *s, struct crux_error *err)
{
	const double count = UINT32_MAX, bytes = (double)MOST_BYTES, message = (double)MOST_MESSAGE;
	const struct range ranges[] = {
		{"shards", s->shards, 1, 65536, false},
		{"index bytes", (double)s->index_bytes, 1, bytes, false},
		{"documents", (double)s->documents, 1, bytes, false},
		{"dimensions", s->dimensions, 1, count, false},
		{"scan share", s->scan_share, 0, 1, true},
		{"rank parameters", s->rank_parameters, 0, 1e15, false},
		{"rank tokens", s->rank_tokens, 0, 1e9, false},
		{"query bytes", (double)s->query_bytes, 1, message, false},
		{"answer bytes", (double)s->answer_bytes, 1, message, false},
		{"batch", s->batch, 1, 1e6, false},
		{"batch delay (s)", s->batch_delay_s, 0, 1e6, false},
		{"query rate (1/s)", s->rate_qps, 0, 1e12, true},
	};

	return check_ranges(name_of(s), ranges, sizeof(ranges) / sizeof(ranges[0]), err);
}

void crux_search_cpu_default(struct crux_search_cpu *cpu)
{
	*cpu = (struct crux_search_cpu){
		.cores = 32,
		.hz = 3e9,
		.flop_per_cycle = 32,
		.achieved = 0.5,
		.memory_Bps = 100e9,
		.memory_bytes = (uint64_t)256 << 30,
		.idle_w = 80,
		.busy_w = 205,
		.nj_per_byte = 0.08,
	};
}

enum crux_status crux_search_server_cpu(const struct crux_search_cpu *cpu,
					struct crux_search_server *out, struct crux_error *err)
{
	const struct range ranges[] = {
		{"cores", cpu->cores, 1, 65536, false},
		{"clock (Hz)", cpu->hz, 0, 1e12, true},
		{"FLOP per cycle", cpu->flop_per_cycle, 0, 1e6, true},
		{"achieved", cpu->achieved, 0, 1, true},
		{"memory bandwidth (byte/s)", cpu->memory_Bps, 0, 1e18, true},
		{"memory bytes", (double)cpu->memory_bytes, 1, (double)MOST_BYTES, false},
		{"idle power (W)", cpu->idle_w, 0, 1e6, false},
		{"busy power (W)", cpu->busy_w, cpu->idle_w, 1e6, false},
		{"energy (nJ/byte)", cpu->nj_per_byte, 0, 1e9, false},
	};
	enum crux_status status =
		check_ranges("cpu", ranges, sizeof(ranges) / sizeof(ranges[0]), err);

	if (status != CRUX_OK)
		return status;
	*out = (struct crux_search_server){
		.precision = CRUX_FP32,
		.device = {
			.name = "cpu",
			.memory_bytes = cpu->memory_bytes,
			.peak_flops = {[CRUX_FP32] = cpu->cores * cpu->hz * cpu->flop_per_cycle},
			.memory_Bps = cpu->memory_Bps,
			.achieved = cpu->achieved,
			.idle_w = cpu->idle_w,
			.busy_w = cpu->busy_w,
			.nj_per_byte = cpu->nj_per_byte,
			.source = "parameters",
		}};
	return CRUX_OK;
}

enum crux_status crux_search_server_gpu(const char *name, enum crux_precision precision,
					struct crux_search_server *out, struct crux_error *err)
{
	const struct crux_gpu *gpu = NULL;
	enum crux_status status = crux_gpu_find(name, &gpu, err);

	if (status != CRUX_OK)
		return status;
	if (!(gpu->peak_flops[precision] > 0))
		return crux_fail(err, CRUX_INVALID, "%s does not compute in %s", name,
				 crux_precision_name(precision));
	*out = (struct crux_search_server){.device = *gpu, .precision = precision, .gpu = true};
	return CRUX_OK;
}

static double weight_bytes(const struct crux_search *search,
			   const struct crux_search_server *server)
{
	return search->rank_parameters * crux_precision_bytes(server->precision);
}

double crux_search_memory_bytes(const struct crux_search *search,
				const struct crux_search_server *server)
{
	return (double)search->index_bytes + weight_bytes(search, server);
}

enum crux_status crux_search_fits(const struct crux_search *search,
				  const struct crux_search_server *server, struct crux_error *err)
{
	const double need = crux_search_memory_bytes(search, server);
	const double have = (double)server->device.memory_bytes;
	const double room = have - weight_bytes(search, server);

	if (need <= have)
		return CRUX_OK;
	if (room < 1)
		return crux_fail(
			err, CRUX_CAPACITY,
			"%s: the weights of the ranking model need %.0f bytes, %s has %.0f: "
			"%.0f too many",
			name_of(search), weight_bytes(search, server), server->device.name, have,
			need - have);
	return crux_fail(err, CRUX_CAPACITY,
			 "%s: a shard needs %.0f bytes of memory, %s has %.0f: %.0f too many; %.0f "
			 "shards instead of %" PRIu32 " would fit",
			 name_of(search), need, server->device.name, have, need - have,
			 ceil((double)search->index_bytes * search->shards / room), search->shards);
}

double crux_search_part(const struct crux_search *search, uint32_t queries)
{
	return search->scan_share >= 1 ? queries > 0
				       : -expm1((double)queries * log1p(-search->scan_share));
}

double crux_search_batch_s(const struct crux_search *search,
			   const struct crux_search_server *server, uint32_t queries)
{
	const double scan_flop =
		2.0 * queries * search->scan_share * (double)search->documents * search->dimensions;
	const double rank_flop = 2.0 * queries * search->rank_candidates * search->rank_tokens *
				 search->rank_parameters;
	double seconds;

	if (!queries)
		return 0;
	seconds = crux_gpu_time_s(&server->device, server->precision, scan_flop,
				  crux_search_part(search, queries) * (double)search->index_bytes,
				  search->scan_launches, 0);
	if (rank_flop > 0)
		seconds += crux_gpu_time_s(&server->device, server->precision, rank_flop,
					   weight_bytes(search, server), search->rank_launches, 0);
	return seconds;
}

double crux_search_capacity_qps(const struct crux_search *search,
				const struct crux_search_server *server)
{
	return search->batch / crux_search_batch_s(search, server, search->batch);
}

static double wire_bytes(uint64_t bytes, uint32_t payload)
{
	return (double)bytes + ceil((double)bytes / payload) * CRUX_FRAME_OVERHEAD;
}

double crux_search_network_qps(const struct crux_search *search, double bps, uint32_t payload)
{
	const double most = fmax(wire_bytes(search->query_bytes, payload),
				 wire_bytes(search->answer_bytes, payload));

	return bps / (8 * most * search->shards);
}

double crux_search_energy_j(const struct crux_search *search,
			    const struct crux_search_server *server, double busy_s, double span_s,
			    double queries)
{
	const double bytes = queries * ((double)search->query_bytes + (double)search->answer_bytes);

	return crux_gpu_energy_j(&server->device, busy_s, fmax(span_s - busy_s, 0), bytes) +
	       server->host_w * span_s;
}

double crux_md1_wait_s(double rate, double service_s)
{
	const double load = rate * service_s;

	return load < 1 ? load * service_s / (2 * (1 - load)) : INFINITY;
}

double crux_batch_fill_s(double rate, uint32_t batch)
{
	return (batch - 1) / (2 * rate);
}
