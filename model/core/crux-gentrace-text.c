/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace-text: the rows of job.csv and worker.csv as text; see crux-gentrace.h.
 *
 * Place: model/core (C11). Depends on gentrace-private.
 */
#include "gentrace-private.h"

#include <stdio.h>
#include <string.h>

#define UNNAMED ",,,,,,,,,,,,,,,,,,,,,,,," /* two dozen columns without a name */

/* Names of models, and how many of a hundred jobs without GPUs, of up to 8, up to 64, more. */
static const struct {
	const char *name;
	uint32_t share[4];
} models[] = {
	{"unknown", {50, 40, 25, 10}}, {"llama", {0, 4, 10, 15}},
	{"llama_30b", {0, 1, 6, 14}},  {"gpt", {0, 6, 10, 10}},
	{"gpt-1b", {0, 3, 6, 3}},      {"gpt-3b", {0, 2, 6, 5}},
	{"gpt-7b", {0, 2, 8, 12}},     {"gpt-13b", {0, 1, 6, 14}},
	{"65b", {0, 0, 2, 10}},	       {"resnet", {2, 8, 3, 0}},
	{"mnist", {3, 8, 0, 0}},       {"word_embedding", {8, 4, 1, 0}},
	{"cognitive", {5, 5, 4, 2}},   {"rl", {2, 3, 3, 1}},
	{"reward", {0, 3, 3, 1}},      {"preprocess", {15, 2, 0, 0}},
	{"sidecar", {5, 1, 0, 0}},     {"concat", {5, 1, 0, 0}},
	{"image", {4, 2, 2, 0}},       {"layer_attn", {0, 1, 1, 0}},
	{"multigen", {0, 1, 1, 1}},    {"dota", {0, 1, 1, 0}},
	{"DLM", {1, 1, 2, 2}},
};

/* "2023/7/5 15:18"; empty when there is none. */
static void date(int64_t minutes, char text[48])
{
	static const int lengths[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t day = minutes / 1440;
	int year = 2023, month = 0;

	text[0] = 0;
	if (minutes == GEN_NONE)
		return;
	for (;;) {
		bool leap = year % 4 == 0; /* up to 2099 */
		int length = lengths[month] + (month == 1 && leap);

		if (day < length)
			break;
		day -= length;
		month = (month + 1) % 12;
		year += month == 0;
	}
	snprintf(text, 48, "%d/%d/%d %d:%02d", year, month + 1, (int)day + 1,
		 (int)(minutes / 60 % 24), (int)(minutes % 60));
}

static void model_name(const struct gen_job *job, struct crux_rng *rng, char name[24])
{
	int class = !job->gpus ? 0 : job->gpus <= 8 ? 1 : job->gpus <= 64 ? 2 : 3;
	uint64_t draw = crux_rng_below(rng, 100), spelling = crux_rng_below(rng, 16);
	size_t i = 0;

	for (; draw >= models[i].share[class]; i++)
		draw -= models[i].share[class];
	snprintf(name, 24, "%s", models[i].name);
	for (char *c = name; *c && (spelling == 0 || (spelling <= 2 && c == name)); c++)
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
}

static const char *kind(const struct gen_job *job, struct crux_rng *rng)
{
	uint64_t draw = crux_rng_below(rng, 100);

	if (draw < (job->gpus ? 85u : 30u))
		return "PyTorchJob";
	return draw < (job->gpus ? 95u : 50u) ? "TFJob" : "ElasticBatchJob";
}

static const char *state(const struct gen_job *job, struct crux_rng *rng)
{
	uint64_t draw = crux_rng_below(rng, 100);

	if (job->fate == GEN_RUNS)
		return "Running";
	if (job->fate == GEN_NEVER)
		return draw < 80 ? "Stopped" : "Failed";
	return draw < 60 ? "Succeeded" : draw < 85 ? "Failed" : "Stopped";
}

/* The number makes it unique, the rest like a hash. */
static void job_name(const struct gen *gen, uint32_t job, char name[32])
{
	snprintf(name, 32, "dlc%05x%08x", job,
		 (unsigned)(crux_mix64(gen->seed + job) & 0xffffffffu));
}

/* Dates of submission, run, stop, finish. */
static void job_dates(const struct gen_job *job, bool stopped, char text[4][48])
{
	int64_t end = job->fate == GEN_NEVER ? job->submit + job->queue : job->finish;

	if (job->fate == GEN_RUNS || job->no_end || job->no_times)
		end = GEN_NONE;
	date(job->no_times ? GEN_NONE : job->submit, text[0]);
	date(job->fate == GEN_NEVER ? GEN_NONE : job->run, text[1]);
	date(stopped ? end : GEN_NONE, text[2]);
	date(end, text[3]);
}

static enum crux_status job_line(struct gen *gen, struct crux_rng *rng, uint32_t i, int64_t id,
				 struct crux_error *err)
{
	const struct gen_job *job = &gen->jobs[i];
	const char *is = state(job, rng), *of = kind(job, rng);
	char name[32], model[24], dates[4][48];
	unsigned user = (unsigned)crux_rng_below(rng, 120);
	unsigned deleted = crux_rng_below(rng, 50) == 0, restarts = job->launches > job->rows;

	job_name(gen, i, name);
	model_name(job, rng, model);
	job_dates(job, is[1] == 't', dates);
	return crux_text_add(&gen->out->job_csv, err,
			     "%lld,%016llx,%s,%s,ns-%03u,%s,%s,,,v3.5,cluster-1,tenant-1,group-%u,"
			     "user-%03u,%u,%u,"
			     "1,%s,%s,%s,%s,%s,%s,\"{\"\"from\"\": \"\"" GEN_MARK
			     "\"\", \"\"workers\"\": %u, \"\"tags\"\": [\"\"a, b\"\", "
			     "\"\"\"\"]}\",%u,ws-%02u,%u,"
			     "quota-%u,L%u,workspace-%02u,,%u" UNNAMED "\n",
			     (long long)id,
			     (unsigned long long)crux_mix64(gen->seed ^ ((uint64_t)id << 20)), name,
			     of, user / 3, model, is, user / 10, user, user & 1, deleted, dates[0],
			     dates[1], dates[2], dates[3], dates[0], dates[3], job->rows, 0,
			     user / 6, user % 10, user % 7, user % 3, user / 6, restarts);
}

/* What two rows have by their place: the early one is first, the one without times has its id. */
static void order_rows(struct gen *gen, int64_t *step)
{
	struct crux_rng rng = gen_rng(gen, GEN_ORDER);
	const int64_t between = CRUX_GENTRACE_NO_TIMES_ID - CRUX_GENTRACE_EARLY_ID;

	for (*step = 1; between % *step || between / *step >= gen->n_jobs; ++*step)
		;
	for (uint32_t i = 0; i < gen->n_jobs; i++)
		gen->order[i] = i;
	gen_shuffle(&rng, gen->order, gen->n_jobs);
	for (uint32_t i = 0; i < gen->n_jobs; i++) {
		uint32_t job = gen->order[i];

		if (gen->jobs[job].fate == GEN_EARLY) {
			gen->order[i] = gen->order[0];
			gen->order[0] = job;
		}
	}
	for (uint32_t i = 1; i < gen->n_jobs; i++) {
		uint32_t job = gen->order[i];

		if (gen->jobs[job].no_times) {
			gen->order[i] = gen->order[between / *step];
			gen->order[between / *step] = job;
			break;
		}
	}
}

enum crux_status gen_write_jobs(struct gen *gen, struct crux_error *err)
{
	struct crux_rng rng = gen_rng(gen, GEN_WORDS);
	enum crux_status status = crux_text_add(
		&gen->out->job_csv, err,
		"id,uid,job_name,kind,namespace,model,status,reason,reason_code,etcd_version,"
		"cluster_id,tenant_id,group_id,user_id,is_enable_gpu_topo_aware,is_deleted,"
		"is_in_k8s,gmt_job_submitted,gmt_job_running,gmt_job_stopped,gmt_job_finished,"
		"gmt_created,gmt_modified,extended,job_max_running_time_minutes,workspace_id,"
		"priority,resource_id,resource_level,workspace_name,sub_status,"
		"job_restart_times" UNNAMED "\n");
	int64_t step;

	order_rows(gen, &step);
	for (uint32_t i = 0; !status && i < gen->n_jobs; i++)
		status = job_line(gen, &rng, gen->order[i], CRUX_GENTRACE_EARLY_ID + i * step, err);
	return status;
}

static void resources(const struct gen_job *job, bool milli, char text[256])
{
	uint32_t gpus = job->gpus < GEN_GPUS ? job->gpus : GEN_GPUS;

	if (!gpus)
		snprintf(text, 256,
			 "{\"\"cpu\"\": \"\"%s\"\", \"\"memory\"\": \"\"32Gi\"\", "
			 "\"\"ephemeral-storage\"\": \"\"100Gi\"\"}",
			 milli ? "8000m" : "8");
	else
		snprintf(text, 256,
			 "{\"\"cpu\"\": \"\"%u\"\", \"\"memory\"\": \"\"%uGi\"\", "
			 "\"\"nvidia.com/gpu\"\": \"\"%u\"\", \"\"ephemeral-storage\"\": "
			 "\"\"%uGi\"\"%s}",
			 12 * gpus, 200 * gpus, gpus, 100 * gpus,
			 gpus == GEN_GPUS ? ", \"\"koordinator.sh/rdma\"\": \"\"1\"\"" : "");
}

/* From when to when launch @p k of a worker runs. */
static void launch_times(const struct gen_job *job, const struct gen_worker *w, uint32_t k,
			 int64_t *from, int64_t *to)
{
	int64_t length = job->finish - job->run;

	if (job->fate == GEN_NEVER) {
		*from = *to = job->submit + job->queue;
		return;
	}
	*from = job->run + length * k / w->launches;
	*to = job->run + length * (k + 1) / w->launches;
	if (w->fault == GEN_NO_START)
		*from = GEN_NONE;
	else if (w->fault == GEN_NO_END)
		*to = GEN_NONE;
	else if (w->fault == GEN_NO_DURATION)
		*to = *from;
}

static enum crux_status worker_line(struct gen *gen, uint32_t i, uint32_t k, int64_t id,
				    struct crux_error *err)
{
	const struct gen_worker *w = &gen->workers[i];
	const struct gen_job *job = &gen->jobs[w->job];
	uint32_t index = i - job->first_worker;
	char name[32], dates[3][48], res[256] = "", host[80];
	int64_t from, to;

	job_name(gen, w->job, name);
	launch_times(job, w, k, &from, &to);
	date(from == GEN_NONE ? job->run : from, dates[0]);
	date(from, dates[1]);
	date(to, dates[2]);
	resources(job, id % 2, res);
	if (w->away) /* a hash like the others, of a host of another cluster */
		for (int part = 0; part < 4; part++)
			snprintf(host + 16 * part, sizeof(host) - 16 * (size_t)part, "%016llx",
				 (unsigned long long)crux_mix64(w->host % 97 + 1000u * part));
	else
		snprintf(host, sizeof(host), "%s", crux_topology_host(gen->topo, w->host)->name);
	return crux_text_add(&gen->out->worker_csv, err, "%lld,%s,%s-%s-%u,%s,%s,%s,%s,%s,%s%s%s\n",
			     (long long)id, name, name, index ? "worker" : "master",
			     index ? index - 1 : 0, index ? "worker" : "master", host, dates[0],
			     dates[1], dates[2], w->fault == GEN_NO_RES ? "" : "\"",
			     w->fault == GEN_NO_RES ? "" : res, w->fault == GEN_NO_RES ? "" : "\"");
}

enum crux_status gen_write_workers(struct gen *gen, struct crux_error *err)
{
	struct crux_rng rng = gen_rng(gen, GEN_ORDER);
	uint32_t jobs = gen->n_jobs + gen->n_lone;
	int64_t id = 30001;
	enum crux_status status = crux_text_add(
		&gen->out->worker_csv, err,
		"id,job_name,worker_name,replica_type,host_ip,gmt_created,gmt_pod_running,"
		"gmt_pod_finished,RES\n");

	for (uint32_t i = 0; i < jobs; i++)
		gen->order[i] = i;
	gen_shuffle(&rng, gen->order, jobs);
	for (uint32_t i = 0; !status && i < jobs; i++) {
		const struct gen_job *job = &gen->jobs[gen->order[i]];

		/* All workers, then those that were launched again. */
		for (uint32_t k = 0, more = job->rows; !status && more; k++) {
			more = 0;
			for (uint32_t w = 0; !status && w < job->rows; w++) {
				if (gen->workers[job->first_worker + w].launches <= k)
					continue;
				status = worker_line(gen, job->first_worker + w, k, id++, err);
				more++;
			}
		}
	}
	return status;
}
