/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-assume: what an iteration of every model of a trace is taken to be; see crux-tracelab.h.
 *
 * Place: model/core (C11), private. Depends on crux-tracelab, tracelab-net.
 */
#include "crux-tracelab.h"
#include "tracelab-net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum crux_status assume_simple(const struct crux_tracelab_jobs *jobs, struct crux_text *text,
				      struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	uint32_t n;
	const struct crux_model *models = crux_model_list(&n);

	for (uint32_t m = 0; !status && m < n; m++) {
		const struct crux_tracelab_job *job = NULL;

		for (uint32_t j = 0; !job && j < jobs->n; j++)
			if (jobs->jobs[j].model == &models[m])
				job = &jobs->jobs[j];
		if (job)
			status = crux_text_add(text, err,
					       "model %s: %.4g s of computation an iteration, "
					       "communication from %.3g of it on, %.4g MB of "
					       "gradients; %s\n",
					       models[m].name, job->compute_s, job->overlap_start,
					       1e-6 * (double)job->gradient_bytes,
					       models[m].source);
	}
	return status;
}

/* ---- in full: nets that differ in their GPUs alone share a line */

/* What is behind MODEL:GPUS: of a description. */
static const char *switches_of(const struct tracelab_net *net)
{
	const char *colon = strchr(net->description, ':');

	return strchr(colon + 1, ':') + 1;
}

static bool alike(const struct tracelab_net *x, const struct tracelab_net *y)
{
	return x->smaller == y->smaller && !strcmp(x->asked, y->asked) &&
	       !strcmp(x->train.net->name, y->train.net->name) &&
	       !strcmp(switches_of(x), switches_of(y));
}

/* From the least to the most of a number over nets. */
struct range {
	double low, high;
};

static void widen(struct range *range, double value)
{
	range->low = fmin(range->low, value);
	range->high = fmax(range->high, value);
}

/* "1.29 to 1.4", or one number. */
static const char *range_text(struct range range, char text[48])
{
	char low[20], high[20];

	snprintf(low, sizeof(low), "%.4g", range.low);
	snprintf(high, sizeof(high), "%.4g", range.high);
	if (strcmp(low, high) != 0)
		snprintf(text, 48, "%s to %s", low, high);
	else
		snprintf(text, 48, "%s", low);
	return text;
}

static enum crux_status assume_alike(const struct crux_tracelab_jobs *jobs, uint32_t first,
				     struct crux_text *text, struct crux_error *err)
{
	const struct range none = {INFINITY, -INFINITY};
	struct range gpus = none, compute = none, busy = none, start = none, nominal = none;
	const struct tracelab_net *like = jobs->nets[first];
	enum crux_status status;
	char texts[5][48];
	uint32_t n = 0;

	for (uint32_t i = first; i < jobs->n_nets; i++) {
		const struct tracelab_net *net = jobs->nets[i];

		if (!alike(net, like))
			continue;
		widen(&gpus, net->train.gpus);
		widen(&compute, net->nominal.compute_s);
		widen(&busy, net->nominal.gpu_s / net->nominal.compute_s);
		widen(&start, net->nominal.overlap_start);
		widen(&nominal, net->nominal_s);
		for (uint32_t j = 0; j < jobs->n; j++)
			n += jobs->jobs[j].net == net;
	}
	status = crux_text_add(
		text, err,
		"model %s, %s, on %s GPUs (%u jobs): %s s an iteration without its network, GPUs "
		"compute %s of it; network from %s of it on; alone on whole hosts %s s\n",
		like->train.net->name, switches_of(like), range_text(gpus, texts[0]), n,
		range_text(compute, texts[1]), range_text(busy, texts[2]),
		range_text(start, texts[3]), range_text(nominal, texts[4]));
	if (!status && like->smaller)
		status = crux_text_add(text, err,
				       "model %s, %s: stands for %s, which fits in no way on these "
				       "GPUs\n",
				       like->train.net->name, switches_of(like), like->asked);
	return status;
}

/* Of what counts as busy, what GPUs compute: by GPU-seconds of iterations alone. */
static double computed_share(const struct crux_tracelab_jobs *jobs)
{
	double busy = 0, computed = 0;

	for (uint32_t j = 0; j < jobs->n; j++) {
		const struct crux_tracelab_job *job = &jobs->jobs[j];
		double iterations = job->gpus * (job->finish_s - job->run_s) / job->nominal_s;

		busy += iterations * job->compute_s;
		computed += iterations * job->gpu_s;
	}
	return busy > 0 ? computed / busy : 1;
}

enum crux_status crux_tracelab_assume(const struct crux_tracelab_jobs *jobs,
				      struct crux_text *assumptions, struct crux_error *err)
{
	enum crux_status status;

	if (jobs->options.models == CRUX_TRACELAB_SIMPLE)
		return assume_simple(jobs, assumptions, err);
	status = crux_text_add(assumptions, err,
			       "models as layers on GPUs %s, hosts of %u, spread by their memory; "
			       "%u of %u jobs have a smaller model because theirs fits in no way; "
			       "as busy counts what needs no network, of which GPUs compute %.3g\n",
			       jobs->nets[0]->train.gpu->name, jobs->options.gpus_per_host,
			       jobs->smaller, jobs->n, computed_share(jobs));
	for (uint32_t i = 0; !status && i < jobs->n_nets; i++) {
		uint32_t before = 0;

		while (before < i && !alike(jobs->nets[before], jobs->nets[i]))
			before++;
		if (before == i)
			status = assume_alike(jobs, i, assumptions, err);
	}
	return status;
}
