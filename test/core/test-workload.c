/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-workload and crux-models: chunks, rings, the flows of a job.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-presets.h"
#include "crux-workload.h"

static const uint32_t ring_sizes[] = {1, 2, 3, 5, 8, 16};
#define N_RING_SIZES (sizeof(ring_sizes) / sizeof(ring_sizes[0]))

/* 0, 1, n - 1, n, 8 MiB, 1 GiB + 1, 2^40 + 12345. */
static uint64_t buffer(uint32_t n, uint32_t i)
{
	const uint64_t sizes[] = {0,
				  1,
				  n - 1,
				  n,
				  UINT64_C(8) << 20,
				  (UINT64_C(1) << 30) + 1,
				  (UINT64_C(1) << 40) + 12345};

	return sizes[i];
}
#define N_BUFFERS 7

/* Chunks add up to the buffer and differ by at most 1 B. */
static void chunks(void)
{
	uint32_t k, b, i;

	for (k = 0; k < N_RING_SIZES; k++)
		for (b = 0; b < N_BUFFERS; b++) {
			uint32_t n = ring_sizes[k];
			uint64_t total = buffer(n, b), sum = 0;

			for (i = 0; i < n; i++) {
				uint64_t c = crux_chunk(total, n, i);

				CHECK(c == total / n || c == total / n + 1);
				sum += c;
			}
			CHECK_U64(sum, total);
		}
}

/*
 * Over all ranks exactly 2 S (n - 1); per rank the sum of its own chunks: in
 * reduce-scatter all but chunk r + 1, in all-gather all but chunk r + 2 (mod n).
 */
static void ring_bytes(void)
{
	uint32_t k, b, r, s;

	for (k = 0; k < N_RING_SIZES; k++)
		for (b = 0; b < N_BUFFERS; b++) {
			uint32_t n = ring_sizes[k];
			uint64_t total = buffer(n, b), sum = 0;

			for (r = 0; r < n; r++) {
				uint64_t own = 0;

				for (s = 0; n > 1 && s < 2 * (n - 1); s++)
					own += crux_ring_step_bytes(total, n, r, s);
				CHECK_U64(crux_ring_bytes(total, n, r), own);
				sum += own;
			}
			CHECK_U64(sum, 2 * total * (n - 1));
			CHECK_U64(crux_ring_step_bytes(total, n, 0, 2 * (n - 1)), 0);
		}
}

/*
 * Play the ring: after reduce-scatter rank r holds chunk r + 1 whole (all n parts);
 * after all-gather every rank holds every chunk whole. A rank may send in step k
 * only what it has by then; what it receives is what its left neighbour sends.
 */
static void ring_order(void)
{
	enum { N = 5 };
	uint32_t parts[N][N], next[N][N], r, c, s;

	for (r = 0; r < N; r++)
		for (c = 0; c < N; c++)
			parts[r][c] = 1;
	for (s = 0; s < 2 * (N - 1); s++) {
		memcpy(next, parts, sizeof(next));
		for (r = 0; r < N; r++) {
			uint32_t to = (r + 1) % N;

			c = s < N - 1 ? (r + N - s) % N : (r + 1 + N - (s - (N - 1))) % N;
			/* A buffer of which only chunk c has bytes: 1 B if c is first. */
			CHECK_U64(crux_ring_step_bytes(1, N, r, s), c == 0);
			next[to][c] = s < N - 1 ? parts[to][c] + parts[r][c] : parts[r][c];
			if (s >= N - 1)
				CHECK_U64(parts[r][c], N);
		}
		memcpy(parts, next, sizeof(parts));
	}
	for (r = 0; r < N; r++)
		for (c = 0; c < N; c++)
			CHECK_U64(parts[r][c], N);
}

/* The smallest and the longest of 64 bits: no overflow where 2 S fits. */
static void large(void)
{
	uint64_t total = UINT64_C(1) << 62;

	CHECK_U64(crux_ring_bytes(total, 2, 0), total);
	/* 3 ranks, 2^62 = 3 q + 1: chunks q + 1, q, q; rank 0 sends 2 S - q - q. */
	CHECK_U64(crux_ring_bytes(total, 3, 0), 2 * total - 2 * (total / 3));
	CHECK_U64(crux_ring_bytes(total, 1, 0), 0);
	CHECK_U64(crux_ring_bytes(total, 0, 0), 0);
	CHECK_U64(crux_chunk(total, 0, 0), 0);
}

static void models(void)
{
	const struct crux_model *m;
	struct crux_error err;
	uint32_t n, i;

	m = crux_model_list(&n);
	CHECK(n >= 3);
	for (i = 0; i < n; i++) {
		CHECK(m[i].parameters > 0 && m[i].flop_per_gpu > 0 && m[i].peak_flops > 0);
		CHECK(m[i].achieved > 0 && m[i].achieved <= 1);
		CHECK(m[i].overlap_start >= 0 && m[i].overlap_start <= 1);
		CHECK(strlen(m[i].source) > 10);
		CHECK_U64(m[i].gradient_bytes, 4 * m[i].parameters);
	}
	CHECK_U64(crux_model_find("vgg", &m, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "\"vgg\"; known: gpt, bert, resnet");
	/*
	 * GPT, SC 2021 eq. 2 with l = 24, h = 1024, V = 51200, s = 2048: 12 l h^2 = 301,989,888,
	 * + 13 l h = 319,488, + (V + s) h = 54,525,952: 356,835,328. Eq. 3 with B = 4:
	 * 96 x 4 x 2048 x 24 x 1024^2 = 1.97912e13 times 1 + 1/3 + 0.1302 = 1.46354: 2.8965e13,
	 * at 137e12 FLOP/s 0.2114 s.
	 */
	CHECK_U64(crux_model_find("gpt", &m, &err), CRUX_OK);
	CHECK_U64(m->parameters, 301989888 + 319488 + 54525952);
	CHECK_NEAR(m->flop_per_gpu, 2.8965e13, 1e10);
	CHECK_NEAR(m->flop_per_gpu / (m->peak_flops * m->achieved), 0.2114, 1e-4);
	CHECK_NEAR(m->overlap_start, 1, 0);
	/* BERT: 256 sequences at 694 / s = 0.36888 s. */
	CHECK_U64(crux_model_find("bert", &m, &err), CRUX_OK);
	CHECK_NEAR(m->flop_per_gpu / (m->peak_flops * m->achieved), 256.0 / 694, 1e-9);
	/* ResNet-50: 256 images at 2470 / s = 0.10364 s. */
	CHECK_U64(crux_model_find("resnet", &m, &err), CRUX_OK);
	CHECK_NEAR(m->flop_per_gpu / (m->peak_flops * m->achieved), 256.0 / 2470, 1e-9);
}

struct bed {
	struct crux_topology *topo;
	struct crux_router *router;
};

static struct bed bed_make(const char *description)
{
	struct bed bed = {NULL, NULL};
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_preset_build(description, &bed.topo, &notes, &err) ||
	    crux_router_create(bed.topo, 1, 0, &bed.router, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	return bed;
}

static void bed_free(struct bed *bed)
{
	crux_router_destroy(bed->router);
	crux_topology_destroy(bed->topo);
}

static void expect_link(const struct crux_topology *topo, struct crux_link_id link,
			const char *want)
{
	char buf[96];

	crux_topology_link_name(topo, link, buf, sizeof(buf));
	CHECK_STR(buf, want);
}

/*
 * 8 GPUs: 4 in h0 (GPUs 4 to 7: NICs 2 and 3), 4 in h6 (GPUs 0 to 3: NICs 0 and 1), 1,003
 * bytes. 2 channels of 502 and 501 B, 2 ranks: each rank sends exactly its channel's
 * size (2 S - S). 4 network flows, 8 NVLink flows (rings of 4 of 1,003 B).
 */
static void flows_of_a_job(void)
{
	struct crux_gpu_ref gpus[8] = {{0, 4}, {0, 5}, {0, 6}, {0, 7},
				       {6, 0}, {6, 1}, {6, 2}, {6, 3}};
	struct crux_job job = {
		.id = 3, .name = "j", .n_gpus = 8, .gpus = gpus, .gradient_bytes = 1003};
	struct crux_flow flows[12];
	struct crux_flow_role roles[12];
	struct bed bed = bed_make("testbed");
	struct crux_error err = {CRUX_OK, ""};
	uint64_t nvlink[2] = {0, 0};
	uint32_t i;

	CHECK_U64(crux_job_shape(&job, bed.topo, &err), CRUX_OK);
	CHECK_U64(job.n_ranks, 2);
	CHECK_U64(job.n_channels, 2);
	CHECK_U64(job.n_flows, 12);
	CHECK_U64(job.rank_host[0], 0);
	CHECK_U64(job.rank_host[1], 6);
	CHECK_U64(crux_job_flows(&job, 9, bed.topo, bed.router, 1, flows, roles, &err), CRUX_OK);
	for (i = 0; i < 4; i++) {
		CHECK(!roles[i].nvlink);
		CHECK_U64(roles[i].channel, i / 2);
		CHECK_U64(roles[i].rank, i % 2);
		CHECK_U64(flows[i].job, 9);
		CHECK_U64(flows[i].bytes, i < 2 ? 502 : 501);
		CHECK_U64(flows[i].steps, 2);
		CHECK_U64(flows[i].candidates->n, 12 * 2 * 12);
		CHECK_U64(crux_flow_hops(&flows[i]), 3 + 2 + 3);
		CHECK(flows[i].ecmp_port >= CRUX_ENTROPY_FIRST);
		CHECK(flows[i].ecmp_candidate < flows[i].candidates->n);
	}
	expect_link(bed.topo, flows[0].pre[0], "h0.gpu4>h0.pcie2");
	expect_link(bed.topo, flows[0].pre[1], "h0.pcie2>h0.nic2");
	expect_link(bed.topo, flows[0].pre[2], "h0.nic2>tor0");
	expect_link(bed.topo, flows[0].post[0], "tor1>h6.nic0");
	expect_link(bed.topo, flows[0].post[1], "h6.nic0>h6.pcie0");
	expect_link(bed.topo, flows[0].post[2], "h6.pcie0>h6.gpu0");
	expect_link(bed.topo, flows[3].pre[0], "h6.gpu2>h6.pcie1");
	expect_link(bed.topo, flows[3].post[2], "h0.pcie3>h0.gpu6");
	for (i = 4; i < 12; i++) {
		CHECK(roles[i].nvlink);
		CHECK_U64(roles[i].gpu.host, i < 8 ? 0 : 6);
		CHECK_U64(flows[i].src_nic.v, CRUX_NONE);
		CHECK_U64(flows[i].steps, 6);
		CHECK_U64(crux_flow_hops(&flows[i]), 2);
		nvlink[i >= 8] += flows[i].bytes;
	}
	/* 2 S (g - 1) in each host. */
	CHECK_U64(nvlink[0], 2 * 1003 * 3);
	CHECK_U64(nvlink[1], 2 * 1003 * 3);
	expect_link(bed.topo, flows[4].pre[0], "h0.gpu4>h0.nvswitch0");
	expect_link(bed.topo, flows[4].post[0], "h0.nvswitch0>h0.gpu5");
	expect_link(bed.topo, flows[7].post[0], "h0.nvswitch0>h0.gpu4");
	crux_free(job.rank_host);
	bed_free(&bed);
}

/* Over n hosts and m channels the network carries exactly 2 S (n - 1) bytes, whatever S. */
static void network_bytes(void)
{
	struct bed bed = bed_make("clos:tors=4,hosts=4,gpus=4,nics=4,uplinks=1");
	struct crux_error err = {CRUX_OK, ""};
	uint32_t k, b, i, m;

	for (k = 0; k < N_RING_SIZES; k++)
		for (b = 0; b < N_BUFFERS; b++)
			for (m = 1; m <= 4; m += 3) {
				uint32_t n = ring_sizes[k];
				struct crux_gpu_ref gpus[64];
				struct crux_job job = {.id = 1,
						       .name = "j",
						       .gpus = gpus,
						       .n_gpus = n * m,
						       .gradient_bytes = buffer(n, b)};
				struct crux_flow flows[192];
				struct crux_flow_role roles[192];
				uint64_t network = 0, nvlink = 0;

				for (i = 0; i < n * m; i++)
					gpus[i] = (struct crux_gpu_ref){i / m, i % m};
				CHECK_U64(crux_job_shape(&job, bed.topo, &err), CRUX_OK);
				CHECK_U64(job.n_channels, m);
				CHECK_U64(crux_job_flows(&job, 0, bed.topo, bed.router, 1, flows,
							 roles, &err),
					  CRUX_OK);
				for (i = 0; i < job.n_flows; i++)
					*(roles[i].nvlink ? &nvlink : &network) += flows[i].bytes;
				CHECK_U64(network, 2 * buffer(n, b) * (n - 1));
				CHECK_U64(nvlink, 2 * buffer(n, b) * (m - 1) * n);
				crux_free(job.rank_host);
			}
	bed_free(&bed);
}

/* Unequal hosts: 3 used NICs on one, 1 on the other: one channel, over the first of each. */
static void uneven(void)
{
	struct crux_gpu_ref gpus[5] = {{0, 1}, {0, 4}, {0, 5}, {0, 6}, {7, 7}};
	struct crux_job job = {
		.id = 1, .name = "j", .n_gpus = 5, .gpus = gpus, .gradient_bytes = 10};
	struct crux_flow flows[6];
	struct crux_flow_role roles[6];
	struct bed bed = bed_make("testbed");
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_job_shape(&job, bed.topo, &err), CRUX_OK);
	CHECK_U64(job.n_channels, 1);
	CHECK_U64(job.n_flows, 2 + 4);
	CHECK_U64(crux_job_flows(&job, 0, bed.topo, bed.router, 1, flows, roles, &err), CRUX_OK);
	expect_link(bed.topo, flows[0].pre[0], "h0.gpu1>h0.pcie0");
	expect_link(bed.topo, flows[0].post[2], "h7.pcie3>h7.gpu7");
	crux_free(job.rank_host);
	bed_free(&bed);
}

static void bad_gpus(void)
{
	static const struct {
		struct crux_gpu_ref gpus[2];
		uint32_t n;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{{{0, 0}}, 0, CRUX_RANGE, "no GPUs"},
		{{{12, 0}}, 1, CRUX_NOT_FOUND, "host 12: there are 12"},
		{{{0, 8}}, 1, CRUX_NOT_FOUND, "GPU 8 of host 0: that host has 8"},
		{{{1, 3}, {1, 3}}, 2, CRUX_DUPLICATE, "GPU 3 of host 1 is given twice"},
		{{{1, 3}, {0, 3}}, 2, CRUX_INVALID, "not in order"},
	};
	struct bed bed = bed_make("testbed");
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct crux_gpu_ref gpus[2] = {bad[i].gpus[0], bad[i].gpus[1]};
		struct crux_job job = {.name = "j", .n_gpus = bad[i].n, .gpus = gpus};
		struct crux_error err = {CRUX_OK, ""};

		CHECK_U64(crux_job_shape(&job, bed.topo, &err), bad[i].status);
		CHECK_HAS(err.text, bad[i].has);
	}
	bed_free(&bed);
}

/* Same seed, same ports; another seed or job, other ports. The candidate is the port's. */
static void ecmp_ports(void)
{
	struct crux_gpu_ref gpus[2] = {{0, 0}, {6, 0}};
	struct crux_job job = {
		.id = 1, .name = "j", .n_gpus = 2, .gpus = gpus, .gradient_bytes = 10};
	struct crux_flow a[2], b[2];
	struct crux_flow_role roles[2];
	struct bed bed = bed_make("testbed");
	struct crux_error err = {CRUX_OK, ""};
	uint32_t i, index;

	CHECK_U64(crux_job_shape(&job, bed.topo, &err), CRUX_OK);
	CHECK_U64(crux_job_flows(&job, 0, bed.topo, bed.router, 1, a, roles, &err), CRUX_OK);
	CHECK_U64(crux_job_flows(&job, 0, bed.topo, bed.router, 1, b, roles, &err), CRUX_OK);
	for (i = 0; i < 2; i++) {
		struct crux_five_tuple tuple = {crux_topology_address(bed.topo, a[i].src_nic),
						crux_topology_address(bed.topo, a[i].dst_nic),
						a[i].ecmp_port, CRUX_ROCE_PORT, 17};

		CHECK_U64(a[i].ecmp_port, b[i].ecmp_port);
		CHECK_U64(crux_router_hash_path(bed.router, a[i].src_nic, a[i].dst_nic, &tuple,
						&index, &err),
			  CRUX_OK);
		CHECK_U64(a[i].ecmp_candidate, index);
	}
	CHECK_U64(crux_job_flows(&job, 0, bed.topo, bed.router, 2, b, roles, &err), CRUX_OK);
	CHECK(a[0].ecmp_port != b[0].ecmp_port);
	job.id = 2;
	CHECK_U64(crux_job_flows(&job, 0, bed.topo, bed.router, 1, b, roles, &err), CRUX_OK);
	CHECK(a[0].ecmp_port != b[0].ecmp_port);
	crux_free(job.rank_host);
	bed_free(&bed);
}

static struct bed oom_bed;

static enum crux_status shape_and_gone(struct crux_error *err)
{
	struct crux_gpu_ref gpus[2] = {{0, 0}, {6, 0}};
	struct crux_job job = {.id = 1, .name = "j", .n_gpus = 2, .gpus = gpus};
	enum crux_status status = crux_job_shape(&job, oom_bed.topo, err);

	if (!status)
		crux_free(job.rank_host);
	return status;
}

static void out_of_memory(void)
{
	oom_bed = bed_make("testbed");
	CHECK_I64(oom_every_count(shape_and_gone, 1), 2);
	bed_free(&oom_bed);
}

int main(void)
{
	RUN(chunks);
	RUN(ring_bytes);
	RUN(ring_order);
	RUN(large);
	RUN(models);
	RUN(flows_of_a_job);
	RUN(network_bytes);
	RUN(uneven);
	RUN(bad_gpus);
	RUN(ecmp_ports);
	RUN(out_of_memory);
	return DONE();
}
