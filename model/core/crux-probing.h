/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-probing: which paths there are between two NICs, found by probes with varied UDP source
 * ports whose answers list the links they took (Crux, section 5).
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology (path sets, entropy range of ports).
 *
 * How many paths there are is not known. With n of them met and equally likely, another one is
 * missed by m more probes with probability (1 - 1/(n + 1))^m; probing ends when m probes in a row
 * that met nothing new bring that to miss or less: m >= ln(miss) / ln(n / (n + 1)); with one path
 * met: m >= ln(miss) / ln(1/2). Only answers count, and only of shortest paths; no more probes are
 * on their way than could still be needed. A probe without an answer for timeout_s is lost; after
 * `losses` lost ones in a row the pair is unreachable. Ports are tried in a fixed order that
 * spreads over the entropy range, each once a round, and depends on the seed.
 *
 * Ports that somebody uses can be asked for: they are tried before all others. Their answers count
 * as any, their losses do not count as losses in a row, for they may all lie on a path that is
 * dead. Probing does not end by the rule above until each was answered or lost CRUX_PROBING_TRIES
 * times; those that were lost are tried again when nothing else is needed any more.
 */
#ifndef CRUX_PROBING_H
#define CRUX_PROBING_H

#include "crux-base.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_probing_options {
	double miss;		     /**< (0, 1) (default 1e-3) */
	uint32_t burst;		     /**< probes on their way at once, 1..16384 (default 8) */
	double timeout_s;	     /**< > 0 (default 1e-3) */
	uint32_t losses;	     /**< in a row, >= 1 (default 16) */
	uint32_t most;		     /**< probes in all, >= 1 (default 4096) */
	uint64_t seed;		     /**< of the order of ports */
	uint32_t n_asked;	     /**< ports tried first (default 0) */
	const uint16_t *asked_ports; /**< [n_asked] rising; copied */
};
/** How often an asked port is tried that finds no answer. */
#define CRUX_PROBING_TRIES 4
void crux_probing_options_default(struct crux_probing_options *options);

enum crux_probing_state {
	CRUX_PROBING_RUNS,
	CRUX_PROBING_DONE,	  /**< by the rule above */
	CRUX_PROBING_LIMIT,	  /**< `most` probes were sent: what is known is kept */
	CRUX_PROBING_UNREACHABLE, /**< nothing answers (any more): what is known is kept */
};

/** A path that was met: all links from the source NIC to the destination NIC. */
struct crux_probing_path {
	uint16_t port;			  /**< the first that took it */
	uint32_t met;			  /**< probes that took it */
	const struct crux_link_id *links; /**< [hops] */
};

struct crux_probing;

enum crux_status crux_probing_create(const struct crux_probing_options *options, double now_s,
				     struct crux_probing **out, struct crux_error *err);
void crux_probing_destroy(struct crux_probing *probing);

/** Is a probe to be sent now, and with which source port? It counts as sent. */
bool crux_probing_next(struct crux_probing *probing, double now_s, uint16_t *port);
/**
 * An answer: the links that the probe of @p port took. One that nobody waits for any more (late,
 * doubled) is dropped. CRUX_INVALID: paths of unlike length (only the shortest are candidates:
 * longer ones are left out and counted; shorter ones replace what was met) are no error; 0 links
 * are.
 */
enum crux_status crux_probing_answer(struct crux_probing *probing, double now_s, uint16_t port,
				     const struct crux_link_id *links, uint32_t hops,
				     struct crux_error *err);
/** When crux_probing_next is to be asked again, though no answer came; INFINITY when it is done. */
double crux_probing_due_s(const struct crux_probing *probing);

enum crux_probing_state crux_probing_state(const struct crux_probing *probing);
/** Number of paths met, and links of each. */
uint32_t crux_probing_paths(const struct crux_probing *probing, uint32_t *hops);
/** Path i in lexicographic order of links, as in crux_router_paths(); until the next answer. */
struct crux_probing_path crux_probing_path(const struct crux_probing *probing, uint32_t i);
/**
 * The path that asked port i takes, as crux_probing_path() counts; until the next answer.
 * CRUX_NONE: no answer, or a longer path.
 */
uint32_t crux_probing_asked(const struct crux_probing *probing, uint32_t i);

/** sent - answered - lost: on their way, or were when it ended; answered - longer: met the paths.
 */
struct crux_probing_counters {
	uint32_t sent, answered, lost, late, longer;
	double begun_s, ended_s; /**< ended_s: NAN while it runs */
};
struct crux_probing_counters crux_probing_counters(const struct crux_probing *probing);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROBING_H */
