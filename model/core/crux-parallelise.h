/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-parallelise: how practitioners would spread a model over GPUs: its description
 * (crux-train.h) from model, GPUs and GPUs of a host.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu, crux-train.
 *
 * The first of these that fits the GPUs' memory (crux_train_fits) is taken. Narayanan and others,
 * Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC 2021:
 * tensor parallelism up to the GPUs of a host, then pipeline parallelism (takeaway 1), so much of
 * both that it fits and data parallelism with the rest (takeaway 2).
 *
 *  1. model parallelism t x p, in the order t = 1, ..., T, then T x p: t divides the job's GPUs
 *     and a host's, so that a tensor group stays in a host whose GPUs are the job's; T is the
 *     largest. p divides what is left; those that divide the transformer layers come first. A
 *     model without transformer layers has t = 1.
 *  2. for each of them, before more parallelism:
 *       nothing
 *       ZeRO 1 (Rajbhandari and others, SC 2020), with several replicas: it costs no computation,
 *         and reduce-scatter and all-gather move less than the all-reduce of fp32 gradients
 *       and selective recomputation (Korthikanti and others 2022): a few % of computation
 *       and full recomputation (SC 2021 uses it throughout): a third of a pass more
 *  3. ZeRO 3 with t = 1, ..., T, p = 1, for counts of GPUs with too few factors.
 *  Expert parallelism: the most that divides replicas and experts and stays in a host; more of it
 *  where that does not fit.
 *
 * Sizes. An iteration has the model's batch for every GPU, as in the three-row table (weak
 * scaling), so a replica of t p GPUs has t p micro-batches of the model's batch; at least 4 p with
 * a pipeline, whose bubble is small then (Huang and others, GPipe, NeurIPS 2019, section 2.3); at
 * most 4,096.
 * Gradients: a model that needs neither ZeRO nor model parallelism is trained by PyTorch's
 * DistributedDataParallel, in buckets of 25 MiB during the backward pass (Li and others, VLDB
 * 2020), but for one whose table says that it starts after it; all others as by Megatron-LM, after
 * the backward pass. All else: crux-train.h's defaults.
 */
#ifndef CRUX_PARALLELISE_H
#define CRUX_PARALLELISE_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_parallel {
	const char *net;	/**< name or file:PATH, as crux_net_create takes it */
	uint32_t gpus;		/**< of the job, >= 1 */
	uint32_t gpus_per_host; /**< >= 1 (default 8) */
	const char *gpu;	/**< preset that has bf16 (default a100-80) */
	uint32_t zero;		/**< most that may be used: 0, 1 or 3 (default 3) */
};
void crux_parallel_default(struct crux_parallel *ask);

/**
 * The description, such as llama-7b:64:tp=1:pp=1:zero=1; the caller frees it with crux_free. Same
 * question, same answer. CRUX_CAPACITY: it fits in no way; the text has what comes closest.
 * CRUX_NOT_FOUND: model or GPU; CRUX_RANGE: a number.
 */
enum crux_status crux_parallelise(const struct crux_parallel *ask, char **out,
				  struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PARALLELISE_H */
