/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-train's programs: bubbles by the longest path, FLOP, bytes of every kind of
 * synchronisation, overlap, switches, mapping of ranks, size of a 1,024-GPU job.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _POSIX_C_SOURCE 200809L /* mkstemp, clock_gettime */

#include "crux-check.h"
#include "crux-oom.h"
#include "crux-train.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* A job with its program. */
struct job {
	struct crux_train train;
	struct crux_program *p;
};

static struct job job_of(const char *text)
{
	struct job job = {.p = NULL};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_train_parse(text, &job.train, &err) ||
	    crux_train_program(&job.train, NULL, NULL, 1, CRUX_NONE, &job.p, &err)) {
		CHECK_FAIL("%s: %s", text, err.text);
		exit(1);
	}
	return job;
}

static void drop(struct job *job)
{
	crux_program_destroy(job->p);
	crux_train_clear(&job->train);
}

static bool starts(const char *text, const char *part)
{
	return !strncmp(text, part, strlen(part));
}

/* Bytes summed over the ranks of all collectives whose name starts so; how many in @p n. */
static uint64_t moved(const struct crux_program *p, const char *name, uint32_t *n)
{
	uint64_t sum = 0;
	uint32_t i;

	*n = 0;
	for (i = 0; i < p->n_ops; i++) {
		const struct crux_op *op = &p->ops[i];

		if (op->kind != CRUX_OP_COLLECTIVE || !starts(op->name, name))
			continue;
		sum += op->repeat *
		       crux_coll_total_bytes(op->coll, p->groups[op->group].n, op->bytes);
		++*n;
	}
	return sum;
}

/*
 * The longest path when communication costs nothing: a part starts when the rank's parts in all
 * dependencies have ended, a collective when all of its ranks' parts have. Computations of a
 * GPU one at a time, in the order of the list (which the chains make the order of the starts).
 */
static double longest_path(const struct crux_program *p)
{
	double *end = calloc((size_t)p->n_ops * p->n_ranks, sizeof(*end)), most = 0;
	double *gpu = calloc(p->n_ranks, sizeof(*gpu)), *last = calloc(p->n_groups, sizeof(*last));
	uint32_t i, k, d;

	for (i = 0; i < p->n_ops; i++) {
		const struct crux_op *op = &p->ops[i];
		const uint32_t *ranks = crux_program_ranks(p, op->group);
		double all = last[op->group];

		for (k = 0; k < p->groups[op->group].n; k++) {
			double start = 0, *mine = &end[(size_t)i * p->n_ranks + ranks[k]];

			for (d = 0; d < op->n_deps; d++) {
				uint32_t dep = p->deps[op->first_dep + d];
				double met = end[(size_t)dep * p->n_ranks + ranks[k]];

				start = met > start ? met : start;
			}
			if (op->kind == CRUX_OP_COMPUTE) {
				start = gpu[ranks[k]] > start ? gpu[ranks[k]] : start;
				start += op->seconds;
				gpu[ranks[k]] = start;
			}
			*mine = start;
			all = start > all ? start : all;
		}
		for (k = 0; op->kind == CRUX_OP_COLLECTIVE && k < p->groups[op->group].n; k++)
			end[(size_t)i * p->n_ranks + ranks[k]] = all;
		if (op->kind == CRUX_OP_COLLECTIVE)
			last[op->group] = all;
		most = all > most ? all : most;
	}
	free(end);
	free(gpu);
	free(last);
	return most;
}

/* Eight equal layers, no parameters: stages of any number that divides 8 are equal. */
static struct job even_job(const char *switches)
{
	char path[] = "/tmp/crux-train-XXXXXX", text[160];
	FILE *file = fdopen(mkstemp(path), "w");
	struct job job;

	fputs("layer,even,dense,count=8,parameters=0,flop=1e12,output=1000,kernels=4,"
	      "kernels_fused=1,memory=4000,memory_fused=1000\n",
	      file);
	fclose(file);
	snprintf(text, sizeof(text), "file:%s:%s", path, switches);
	job = job_of(text);
	unlink(path);
	return job;
}

static const struct crux_op *op_named(const struct crux_program *p, const char *name)
{
	uint32_t i;

	for (i = 0; i < p->n_ops; i++)
		if (!strcmp(p->ops[i].name, name))
			return &p->ops[i];
	CHECK_FAIL("no operation %s", name);
	return p->ops;
}

/* (m + p - 1) (f + b): the bubble is (p - 1)/(m + p - 1) of the time, in both schedules. */
static void bubble(void)
{
	static const uint32_t stages[] = {1, 2, 4, 8}, micros[] = {1, 2, 3, 4, 7, 8, 16};
	static const char *const schedules[] = {"gpipe", "1f1b"};
	uint32_t i, k, s;
	char text[80];

	for (i = 0; i < 4; i++)
		for (k = 0; k < 7; k++)
			for (s = 0; s < 2; s++) {
				uint32_t p = stages[i], m = micros[k];
				struct job job;
				double f, b, time;

				snprintf(text, sizeof(text), "%u:pp=%u:micro=%u:schedule=%s", 2 * p,
					 p, m, schedules[s]);
				job = even_job(text);
				f = op_named(job.p, "fwd s0 m0")->seconds;
				b = op_named(job.p, "bwd s0 m0")->seconds;
				time = longest_path(job.p);
				CHECK(f > 0 && b > f);
				CHECK_NEAR(time, (m + p - 1) * (f + b), 1e-12 * time);
				CHECK_NEAR(1 - m * (f + b) / time, (p - 1.0) / (m + p - 1), 1e-12);
				drop(&job);
			}
}

/* 1 forward + 2 backward; recomputing all adds one forward: 4/3. */
static void recomputation(void)
{
	struct job none = even_job("4:pp=2:micro=4"),
		   full = even_job("4:pp=2:micro=4:recompute=full");
	double h = 1024, s = 2048, l = 24, v = 51200, f;

	/* 2 replicas x 4 micro-batches x 8 layers x 3 x 1e12. */
	CHECK_NEAR(crux_program_flop(none.p), 2 * 4 * 8 * 3e12, 1);
	CHECK_NEAR(crux_program_flop(full.p) / crux_program_flop(none.p), 4.0 / 3, 1e-12);
	CHECK_NEAR(op_named(full.p, "bwd s0 m0")->seconds,
		   op_named(none.p, "bwd s0 m0")->seconds + op_named(none.p, "fwd s0 m0")->seconds,
		   1e-12);
	drop(&none);
	drop(&full);
	/* GPT: the layers once more, not the head (SC 2021, eq. 3): 96 B s l h^2 (1 + ...). */
	full = job_of("gpt:1:recompute=full");
	f = 4 * s * l * h * h;
	CHECK_NEAR(crux_program_flop(full.p), 96 * f * (1 + s / (6 * h) + v / (16 * l * h)), 1e6);
	drop(&full);
	/* Selective: 4 s^2 h a layer and sample more. */
	none = job_of("gpt:1");
	full = job_of("gpt:1:recompute=selective");
	CHECK_NEAR(crux_program_flop(full.p) - crux_program_flop(none.p), 4 * l * 4 * s * s * h,
		   1e6);
	drop(&none);
	drop(&full);
}

/*
 * Korthikanti and others 2022, table 5, GPT-3 175B on 64 GPUs: 18.13 s an iteration with full,
 * 13.75 s with selective recomputation (and sequence parallelism): 1.319. Computation alone here.
 */
static void published_gain_of_selective(void)
{
	struct job full = job_of("gpt3-175b:64:tp=8:pp=8:micro=64:recompute=full");
	struct job selective = job_of("gpt3-175b:64:tp=8:pp=8:micro=64:recompute=selective");

	CHECK_NEAR(longest_path(full.p) / longest_path(selective.p), 18.13 / 13.75, 0.02);
	drop(&full);
	drop(&selective);
}

/* Launches and bytes change, FLOP do not. */
static void fusion(void)
{
	struct job plain = even_job("1"), fused = even_job("1:fusion=1");
	double launch = plain.train.gpu->launch_s;

	CHECK_NEAR(crux_program_flop(plain.p), crux_program_flop(fused.p), 0);
	/* Bound by FLOP: 8 layers x (1 + 2) x (4 - 1) launches less. */
	CHECK_NEAR(crux_program_gpu_s(plain.p) - crux_program_gpu_s(fused.p), 8 * 3 * 3 * launch,
		   1e-9);
	drop(&plain);
	drop(&fused);
	/* Bound by memory: MIND has hardly any FLOP. */
	plain = job_of("dlrm:1");
	fused = job_of("dlrm:1:fusion=1");
	CHECK_NEAR(crux_program_flop(plain.p), crux_program_flop(fused.p), 0);
	CHECK(crux_program_gpu_s(fused.p) < crux_program_gpu_s(plain.p));
	drop(&plain);
	drop(&fused);
}

/* FLOP of an iteration against 6 N tokens: attention adds s/(6 h), the look-up takes away. */
static void six_n_tokens(void)
{
	static const struct {
		const char *text;
		double samples, tokens;
	} rows[] = {
		{"gpt3-175b:128:tp=8:pp=8:micro=4", 4 * 2, 2048},
		{"gpt3-13b:16:tp=4:micro=3", 3 * 4, 2048},
		{"llama-65b:64:tp=8:pp=4:micro=8", 8 * 2, 2048},
		{"llama-33b:32:tp=8:zero=1", 4, 2048},
		{"bert-large:8", 8 * 256, 128},
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct job job = job_of(rows[i].text);
		double n = (double)crux_net_parameters(job.train.net);

		CHECK_NEAR(crux_program_flop(job.p) / (6 * n * rows[i].samples * rows[i].tokens), 1,
			   0.075);
		drop(&job);
	}
}

/* Published single-GPU rates are what the fractions of the peak were fitted to: within 1 %. */
static void published_rates(void)
{
	struct job job = job_of("bert-large:1");

	CHECK_NEAR(256 / crux_program_gpu_s(job.p), 694, 0.01 * 694);
	drop(&job);
	job = job_of("resnet50:1");
	CHECK_NEAR(256 / crux_program_gpu_s(job.p), 2470, 0.01 * 2470);
	drop(&job);
}

/*
 * Gradients of P parameters at 4 B over n replicas: all-reduce 2 S (n-1), whatever the buckets
 * and the cut by tensor parallelism; ZeRO 1 S (n-1) and the parameters' (2 B) S/2 (n-1); ZeRO 3
 * two gatherings and a reduction each micro-batch; parameter server (S + S/2)(n-1).
 */
static void gradient_bytes(void)
{
	static const struct {
		const char *text;
		double parameters, factor; /* of S (n-1) */
		uint32_t n;
	} rows[] = {
		{"gpt3-125m:8", 1, 2, 8},
		{"gpt3-125m:8:sync=tree", 1, 2, 8},
		{"gpt3-125m:8:bucket_mb=25", 1, 2, 8},
		{"gpt3-125m:7:bucket_mb=25:micro=3", 1, 2, 7},
		{"gpt3-125m:16:tp=2", 1, 2, 8},
		{"gpt3-125m:15:tp=3:bucket_mb=10", 1, 2, 5},
		{"gpt3-125m:8:zero=1", 1, 1 + 0.5, 8},
		{"gpt3-125m:8:zero=1:bucket_mb=25", 1, 1 + 0.5, 8},
		{"gpt3-125m:8:zero=3:micro=2", 1, 2 * (2 * 0.5 + 1), 8},
		{"gpt3-125m:8:zero=3:bucket_mb=50", 1, 2 * 0.5 + 1, 8},
		{"gpt3-125m:8:sync=ps", 1, 1 + 0.5, 8},
		{"gpt3-125m:8:sync=ps:bucket_mb=25", 1, 1 + 0.5, 8},
		{"gpt3-125m:8:grads=same", 0.5, 2, 8},
		{"gpt3-125m:1", 1, 0, 1},
	};
	const double p = 125226240;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct job job = job_of(rows[i].text);
		uint32_t n[5];
		uint64_t sum = moved(job.p, "grad", &n[0]) + moved(job.p, "zero", &n[1]) +
			       moved(job.p, "push", &n[2]) + moved(job.p, "pull", &n[3]);
		double want = rows[i].factor * 4 * p * rows[i].parameters * (rows[i].n - 1);

		if (sum != (uint64_t)want)
			CHECK_FAIL("%s: %" PRIu64 " instead of %.0f bytes", rows[i].text, sum,
				   want);
		drop(&job);
	}
}

/* Two stages hold the table of V h: each reduces its copy, and the pairs add theirs. */
static void tied_gradients(void)
{
	struct job job = job_of("gpt3-125m:8:pp=2:tp=2");
	uint64_t p = 125226240, tied = UINT64_C(50257) * 768;
	uint32_t n, pairs;
	uint64_t pair_bytes = moved(job.p, "grad tied", &pairs);

	/* 2 replicas x 2 ranks; a pair's all-reduce moves twice its half of 4 V h. */
	CHECK_U64(pairs, 4);
	CHECK_U64(pair_bytes, 2 * 2 * 4 * tied);
	CHECK_U64(moved(job.p, "grad", &n) - pair_bytes, 2 * 4 * (p + tied));
	drop(&job);
}

/* The first bucket may go while the backward pass still runs; the pieces add up to it. */
static void overlap(void)
{
	struct job job = job_of("gpt:8:bucket_mb=100:micro=2"), whole = job_of("gpt:8:micro=2");
	uint32_t i, pieces = 0, reductions;
	double seconds = 0;

	for (i = 0; i < job.p->n_ops; i++)
		if (starts(job.p->ops[i].name, "bwd s0 m1")) {
			seconds += job.p->ops[i].seconds;
			pieces++;
		}
	/*
	 * A block is 4 (12 h^2 + 13 h) = 50.4 MB: three reach 100 MiB (two are 100.8 MB); the
	 * head's gradients are none here. 24 blocks: 8 pieces, and the look-up's.
	 */
	CHECK_U64(pieces, 9);
	moved(job.p, "grad ar", &reductions);
	CHECK_U64(reductions, 9);
	CHECK_NEAR(seconds, op_named(whole.p, "bwd s0 m1")->seconds, 1e-9);
	CHECK_NEAR(op_named(job.p, "bwd s0 m0")->seconds, op_named(whole.p, "bwd s0 m0")->seconds,
		   0);
	for (i = 0; i < job.p->n_ops; i++)
		if (starts(job.p->ops[i].name, "grad ar"))
			break;
	CHECK_U64(job.p->ops[i].n_deps, 1);
	CHECK_STR(job.p->ops[job.p->deps[job.p->ops[i].first_dep]].name, "bwd s0 m1 b1");
	CHECK_NEAR(longest_path(job.p), longest_path(whole.p), 1e-9);
	drop(&job);
	drop(&whole);
}

/* Tensor parallelism: two all-reduces a layer and direction of b s h 2 B; again if recomputed. */
static void tensor_parallelism(void)
{
	struct job job = job_of("llama-7b:16:tp=4:pp=2:micro=3");
	const uint64_t s = UINT64_C(2048) * 4096 * 2;
	uint32_t n;

	/* 2 replicas, 3 micro-batches, 32 layers, 4 all-reduces, 2 S (4 - 1) bytes each. */
	CHECK_U64(moved(job.p, "tp ", &n), 2 * 3 * 32 * 4 * 2 * s * 3);
	CHECK_U64(op_named(job.p, "tp fwd s0 m0")->repeat, 2 * 16);
	CHECK_U64(op_named(job.p, "tp fwd s0 m0")->bytes, s);
	/* Between stages each rank sends its quarter, there and back, and gathers the whole. */
	CHECK_U64(moved(job.p, "send ", &n), 2 * 3 * 2 * s);
	CHECK_U64(n, 2 * 3 * 2);
	CHECK_U64(op_named(job.p, "send fwd s0 m0")->bytes, s / 4);
	CHECK_U64(moved(job.p, "got ", &n), 2 * 3 * 2 * s * 3);
	drop(&job);
	job = job_of("llama-7b:4:tp=4:recompute=full");
	CHECK_U64(op_named(job.p, "tp bwd s0 m0")->repeat, 4 * 32);
	drop(&job);
	/* A quarter of the FLOP on each rank, none lost. */
	job = job_of("llama-7b:4:tp=4");
	CHECK_NEAR(op_named(job.p, "fwd s0 m0")->flop, crux_net_flop(job.train.net) / 4, 1e3);
	drop(&job);
}

/* Experts: two all-to-alls a layer and direction of what two choices of every token are. */
static void expert_parallelism(void)
{
	struct job job = job_of("mixtral-8x7b:16:ep=8:micro=2");
	const uint64_t s = UINT64_C(4096) * 4096 * 2 * 2,
		       experts = UINT64_C(8) * 32 * 3 * 4096 * 14336;
	const uint64_t dense = UINT64_C(46702792704) - experts;
	uint32_t n;

	/* 2 groups of 8, 2 micro-batches, 32 layers x 4, S (8 - 1). */
	CHECK_U64(moved(job.p, "ep ", &n), 2 * 2 * 32 * 4 * s * 7);
	/* Gradients: the dense part over 16, each expert over its two replicas. */
	CHECK_U64(moved(job.p, "grad", &n), 2 * 4 * dense * 15 + 2 * 4 * experts);
	drop(&job);
	/* With tensor parallelism each rank exchanges its half of the tokens. */
	job = job_of("mixtral-8x7b:16:tp=2:ep=4");
	CHECK_U64(moved(job.p, "ep ", &n), 2 * 2 * 32 * 4 * (s / 2) * 3);
	CHECK_NEAR(longest_path(job.p), crux_program_gpu_s(job.p) / 16, 1e-9);
	drop(&job);
}

/* Tables of recommenders are gathered row by row: 26 x 16 numbers of each sample. */
static void sparse_gradients(void)
{
	struct job job = job_of("dlrm:4");
	const uint64_t rows = UINT64_C(2048) * 26 * 16, dense = 540677217 - UINT64_C(33762577) * 16;
	uint32_t n;

	CHECK_U64(moved(job.p, "grad rows", &n), 4 * rows * 4 * 3);
	CHECK_U64(moved(job.p, "grad ar", &n), 2 * 4 * dense * 3);
	drop(&job);
}

static uint64_t copied(const struct crux_program *p, const char *name)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < p->n_ops; i++)
		if (p->ops[i].kind == CRUX_OP_COPY && starts(p->ops[i].name, name))
			sum += p->ops[i].bytes * p->groups[p->ops[i].group].n;
	return sum;
}

static void copies(void)
{
	/* Half of 24 layers' 2 x activations of 4 sequences, out and in for both micro-batches. */
	struct job job = job_of("gpt:2:swap=0.5:micro=2:data_mb=3:checkpoint=10:zero=1");
	double s = 2048, h = 1024, v = 51200;
	double kept = 24 * s * h * (34 + 5 * 16 * s / h) + s * h + 4 * s * h * (1 + v / h);
	const struct crux_op *in = op_named(job.p, "swap in s0 m1");

	CHECK_U64(copied(job.p, "swap out"), 2 * 2 * (uint64_t)(4 * kept / 2));
	CHECK_U64(copied(job.p, "swap in"), 2 * 2 * (uint64_t)(4 * kept / 2));
	CHECK_U64(in->direction, CRUX_COPY_TO_GPU);
	CHECK_U64(in->traffic, CRUX_TRAFFIC_JOB);
	/* 3 MiB a GPU; 2 + 12 B a parameter of the two shards, a tenth of them an iteration. */
	CHECK_U64(copied(job.p, "data"), 2 * 3 * 1048576);
	CHECK_NEAR((double)copied(job.p, "ckpt"), 14 * 356835328.0 / 10, 2);
	CHECK_U64(op_named(job.p, "data")->traffic, CRUX_TRAFFIC_STORAGE);
	drop(&job);
	/* Without ZeRO one replica writes. */
	job = job_of("gpt:4:checkpoint=10");
	CHECK_NEAR((double)copied(job.p, "ckpt"), 14 * 356835328.0 / 10, 2);
	CHECK_U64(job.p->groups[op_named(job.p, "ckpt s0")->group].n, 1);
	drop(&job);
	/* Every expert is written once: by the four replicas that hold them, or as 8 shards. */
	job = job_of("mixtral-8x7b:16:tp=2:ep=4:checkpoint=10");
	CHECK_NEAR((double)copied(job.p, "ckpt"), 14 * 46702792704.0 / 10, 16);
	CHECK_U64(job.p->groups[op_named(job.p, "ckpt s0")->group].n, 8);
	drop(&job);
	job = job_of("mixtral-8x7b:16:tp=2:ep=4:zero=1:checkpoint=10");
	CHECK_NEAR((double)copied(job.p, "ckpt"), 14 * 46702792704.0 / 10, 16);
	CHECK_U64(job.p->groups[op_named(job.p, "ckpt s0")->group].n, 16);
	drop(&job);
}

/*
 * Adam with bf16 and fp32 gradients reads and writes 24 + 4 + 2 B a parameter: without ZeRO of all
 * dense and a quarter of the experts, with it of a sixteenth of both (t d = 16). One launch, 5 us.
 */
static void expert_optimiser(void)
{
	const double experts = 8.0 * 32 * 3 * 4096 * 14336, all = 46702792704.0;
	struct job job = job_of("mixtral-8x7b:16:tp=2:ep=4");
	const double own = 30 * ((all - experts) / 2 + experts / 8) / 2039e9 + 5e-6;
	const double sharded = 30 * all / 16 / 2039e9 + 5e-6;

	CHECK_NEAR(op_named(job.p, "optimiser s0")->seconds, own, 1e-9);
	drop(&job);
	job = job_of("mixtral-8x7b:16:tp=2:ep=4:zero=1");
	CHECK_NEAR(op_named(job.p, "optimiser s0")->seconds, sharded, 1e-9);
	drop(&job);
}

/* Accumulating 4 is the same work as 4 micro-batches, and one synchronisation. */
static void accumulation(void)
{
	struct job a = job_of("gpt3-125m:4:accumulate=4"), b = job_of("gpt3-125m:4:micro=4");
	struct job c = job_of("gpt3-125m:4");
	uint32_t n;

	CHECK_NEAR(crux_program_flop(a.p), crux_program_flop(b.p), 0);
	CHECK_NEAR(crux_program_flop(a.p), 4 * crux_program_flop(c.p), 1);
	CHECK_U64(moved(a.p, "grad", &n), moved(c.p, "grad", &n));
	drop(&a);
	drop(&b);
	drop(&c);
}

static void drives_and_scale(void)
{
	struct job job = job_of("gpt3-125m:4:drive=cpu:threads=3");
	struct crux_program *half = NULL;
	struct crux_error err = {CRUX_OK, ""};
	uint32_t n;

	/* The drive's figures are the program's. */
	CHECK_NEAR(job.p->message_latency_s, job.train.drive->latency_s + job.train.drive->launch_s,
		   0);
	CHECK_NEAR(job.p->message_cpu_s, job.train.drive->cpu_s, 0);
	CHECK_NEAR(job.p->interference, job.train.drive->interference, 0);
	CHECK_U64(job.p->cpu_threads, 3);
	CHECK_U64(crux_train_program(&job.train, NULL, NULL, 2, 5, &half, &err), CRUX_OK);
	CHECK_U64(half->storage_host, 5);
	CHECK_NEAR(crux_program_gpu_s(half), crux_program_gpu_s(job.p) / 2, 1e-9);
	CHECK_NEAR(crux_program_flop(half), crux_program_flop(job.p) / 2, 1);
	CHECK_U64(moved(half, "grad", &n), moved(job.p, "grad", &n) / 2);
	crux_program_destroy(half);
	CHECK_U64(crux_train_program(&job.train, NULL, NULL, 0, 5, &half, &err), CRUX_RANGE);
	drop(&job);
	CHECK_U64(crux_train_parse("gpt:8:sync=hierarchical", &job.train, &err), CRUX_OK);
	CHECK_U64(crux_train_program(&job.train, NULL, NULL, 1, CRUX_NONE, &half, &err),
		  CRUX_INVALID);
	CHECK_HAS(err.text, "needs the ranks' hosts");
	crux_train_clear(&job.train);
}

/* The group of the first operation whose name starts so. */
static const struct crux_group *group_of(const struct crux_program *p, const char *name)
{
	uint32_t i;

	for (i = 0; i < p->n_ops && !starts(p->ops[i].name, name); i++)
		;
	return &p->groups[p->ops[i < p->n_ops ? i : 0].group];
}

/* tdp: t + 2 (d + 2 p); pdt: p + 2 (d + 2 t). */
static void order_of_ranks(void)
{
	struct job job = job_of("gpt:8:tp=2:pp=2");
	const struct crux_group *g = group_of(job.p, "tp fwd s1"),
				*dp = group_of(job.p, "grad ar s0");
	const uint32_t *m = job.p->members;

	CHECK_U64(m[g->first], 4);
	CHECK_U64(m[g->first + 1], 5);
	CHECK_U64(m[dp->first], 0);
	CHECK_U64(m[dp->first + 1], 2);
	drop(&job);
	job = job_of("gpt:8:tp=2:pp=2:order=pdt");
	g = group_of(job.p, "tp fwd s1");
	dp = group_of(job.p, "grad ar s0");
	m = job.p->members;
	CHECK_U64(m[g->first], 1);
	CHECK_U64(m[g->first + 1], 5);
	CHECK_U64(m[dp->first + 1], 2);
	drop(&job);
}

/* 16 ranks on two hosts, 4 NICs each behind two GPUs: as many rings as a group has NICs. */
static void rings(void)
{
	struct crux_train t;
	struct crux_program *p = NULL;
	struct crux_error err = {CRUX_OK, ""};
	uint32_t host[16], nic[16], i;

	for (i = 0; i < 16; i++) {
		host[i] = i / 8;
		nic[i] = i % 8 / 2;
	}
	CHECK_U64(crux_train_parse("gpt:16", &t, &err), CRUX_OK);
	CHECK_U64(crux_train_program(&t, host, nic, 1, CRUX_NONE, &p, &err), CRUX_OK);
	CHECK_U64(op_named(p, "grad ar s0")->channels, 4);
	crux_program_destroy(p);
	crux_train_clear(&t);
	/* TP 8 stays on a host: one ring; each of its replica groups has a GPU a host. */
	CHECK_U64(crux_train_parse("gpt:16:tp=8", &t, &err), CRUX_OK);
	CHECK_U64(crux_train_program(&t, host, nic, 1, CRUX_NONE, &p, &err), CRUX_OK);
	CHECK_U64(op_named(p, "tp fwd s0 m0")->channels, 1);
	CHECK_U64(op_named(p, "grad ar s0")->channels, 1);
	crux_program_destroy(p);
	crux_train_clear(&t);
	CHECK_U64(crux_train_parse("gpt:16:channels=2", &t, &err), CRUX_OK);
	CHECK_U64(crux_train_program(&t, host, nic, 1, CRUX_NONE, &p, &err), CRUX_OK);
	CHECK_U64(op_named(p, "grad ar s0")->channels, 2);
	crux_program_destroy(p);
	crux_train_clear(&t);
}

/* What is allocated now and was at most. */
struct meter {
	size_t now, most;
};

static void *metered(void *context, void *old, size_t bytes)
{
	struct meter *meter = context;
	size_t *head = old ? (size_t *)old - 2 : NULL, *grown;

	if (head)
		meter->now -= *head;
	if (!bytes) {
		free(head);
		return NULL;
	}
	grown = realloc(head, bytes + 2 * sizeof(*head));
	if (!grown)
		return NULL;
	*grown = bytes;
	meter->now += bytes;
	meter->most = meter->now > meter->most ? meter->now : meter->most;
	return grown + 2;
}

/* TP 8 x PP 8 x DP 16: well under a second and 100 MiB. */
static void thousand_gpus(void)
{
	static const char *const texts[] = {
		"gpt3-175b:1024:tp=8:pp=8:micro=16",
		"gpt3-175b:1024:tp=8:pp=8:micro=32",
		"gpt3-175b:1024:tp=8:pp=8:micro=32:bucket_mb=100:zero=1:recompute=selective",
	};
	size_t i;

	for (i = 0; i < 3; i++) {
		struct meter meter = {0, 0};
		const struct crux_allocator allocator = {metered, &meter};
		struct timespec a, b;
		struct job job;
		double seconds;

		crux_set_allocator(&allocator);
		clock_gettime(CLOCK_MONOTONIC, &a);
		job = job_of(texts[i]);
		clock_gettime(CLOCK_MONOTONIC, &b);
		seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
		printf("     %s: %u operations, %u groups, %.3f s, %.1f MiB\n", texts[i],
		       job.p->n_ops, job.p->n_groups, seconds, (double)meter.most / 1048576);
		CHECK(seconds < 1);
		CHECK(meter.most < 100u << 20);
		drop(&job);
		CHECK_U64(meter.now, 0);
		crux_set_allocator(NULL);
	}
}

/* Every model in some way or other: the check accepts it, and work goes on all GPUs. */
static void every_model(void)
{
	uint32_t n, i;
	const char *const *names = crux_net_names(&n);
	char text[80];

	for (i = 0; i < n; i++) {
		struct job job;

		snprintf(text, sizeof(text), "%s:4:pp=2:micro=3:recompute=full:bucket_mb=64",
			 names[i]);
		job = job_of(text);
		CHECK(crux_program_flop(job.p) > 0);
		CHECK(longest_path(job.p) * 4 >= crux_program_gpu_s(job.p) * (1 - 1e-12));
		drop(&job);
	}
}

static enum crux_status make(struct crux_error *err)
{
	struct crux_train t;
	struct crux_program *p = NULL;
	uint32_t host[8] = {0, 0, 0, 0, 1, 1, 1, 1}, nic[8] = {0};
	enum crux_status status = crux_train_parse(
		"mixtral-8x7b:8:tp=2:pp=2:ep=2:swap=0.1:data_mb=1:checkpoint=2:zero=1", &t, err);

	if (status)
		return status;
	status = crux_train_program(&t, host, nic, 1, CRUX_NONE, &p, err);
	crux_program_destroy(p);
	crux_train_clear(&t);
	return status;
}

static void out_of_memory(void)
{
	struct crux_error err = {CRUX_OK, ""};
	enum crux_status status;

	OOM_EVERY(status, make(&err), (void)0);
}

int main(void)
{
	RUN(bubble);
	RUN(recomputation);
	RUN(published_gain_of_selective);
	RUN(fusion);
	RUN(six_n_tokens);
	RUN(published_rates);
	RUN(gradient_bytes);
	RUN(tied_gradients);
	RUN(overlap);
	RUN(tensor_parallelism);
	RUN(expert_parallelism);
	RUN(sparse_gradients);
	RUN(copies);
	RUN(expert_optimiser);
	RUN(accumulation);
	RUN(drives_and_scale);
	RUN(order_of_ranks);
	RUN(rings);
	RUN(thousand_gpus);
	RUN(every_model);
	RUN(out_of_memory);
	return DONE();
}
