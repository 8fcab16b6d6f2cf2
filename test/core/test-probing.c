/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-probing: finding paths by probes, against the router that answers them. Depends on libcrux.
 *
 * Answers that miss = 1e-3 needs for n equal paths, in the mean, by expected(); 300 runs each
 * agree within 1 %:	n	1	2	4	8	16	32
 *			answers	11	21	39	81	168	355
 */
#include "crux-check.h"
#include "crux-presets.h"
#include "crux-probing.h"

enum { FLYING = 64, HOPS = 16 };

/* A pair of NICs in a network that answers probes. */
struct pair {
	struct crux_router *router;
	struct crux_node_id src, dst;
	struct crux_five_tuple tuple;
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	double loss, twice;
	uint32_t detour; /* this many of 8 ports take a way with a link more; 8: all */
	struct crux_rng rng;
};

static struct crux_topology *preset(const char *description)
{
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_preset_build(description, &topo, &notes, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	return topo;
}

static struct pair pair_make(const struct crux_topology *topo, struct crux_router *router,
			     uint32_t from, uint32_t to, uint64_t seed)
{
	struct pair p = {.router = router,
			 .src = crux_topology_host(topo, from)->nics[seed % 4],
			 .dst = crux_topology_host(topo, to)->nics[seed / 4 % 4]};

	p.tuple = (struct crux_five_tuple){.src_ip = crux_topology_address(topo, p.src),
					   .dst_ip = crux_topology_address(topo, p.dst),
					   .dst_port = CRUX_ROCE_PORT,
					   .protocol = 17};
	CHECK_U64(crux_router_paths(router, p.src, p.dst, &p.first, &p.set, &p.last, NULL),
		  CRUX_OK);
	crux_rng_init(&p.rng, seed, 9);
	return p;
}

/* All links that a port takes. */
static uint32_t pair_links(struct pair *p, uint16_t port, struct crux_link_id *links)
{
	uint32_t index = 0, n = 0;

	p->tuple.src_port = port;
	CHECK_U64(crux_router_hash_path(p->router, p->src, p->dst, &p->tuple, &index, NULL),
		  CRUX_OK);
	links[n++] = p->first;
	if (port % 8 < p->detour)
		links[n++] = (struct crux_link_id){1000000};
	for (uint32_t h = 0; h < p->set->hops; h++)
		links[n++] = p->set->links[(size_t)index * p->set->hops + h];
	links[n++] = p->last;
	return n;
}

struct probe {
	double at_s;
	uint16_t port;
};

/* Let it probe to its end; answers come after 5 to 300 us, out of order. */
static void probe_all(struct crux_probing *probing, struct pair *p)
{
	struct probe flying[FLYING];
	struct crux_link_id links[HOPS];
	uint32_t n = 0, first, hops;
	double now_s = crux_probing_counters(probing).begun_s;
	uint16_t port;

	for (;;) {
		while (crux_probing_next(probing, now_s, &port)) {
			uint32_t copies = crux_rng_real(&p->rng) >= p->loss;

			CHECK(port >= CRUX_ENTROPY_FIRST);
			copies += copies && crux_rng_real(&p->rng) < p->twice;
			while (copies-- && n < FLYING)
				flying[n++] = (struct probe){
					now_s + 5e-6 + 295e-6 * crux_rng_real(&p->rng), port};
		}
		for (uint32_t i = first = 0; i < n; i++)
			if (flying[i].at_s < flying[first].at_s)
				first = i;
		if (n && flying[first].at_s < crux_probing_due_s(probing)) {
			now_s = flying[first].at_s;
			port = flying[first].port;
			flying[first] = flying[--n];
			hops = pair_links(p, port, links);
			CHECK_U64(crux_probing_answer(probing, now_s, port, links, hops, NULL),
				  CRUX_OK);
		} else {
			if (isinf(crux_probing_due_s(probing)))
				return;
			now_s = crux_probing_due_s(probing);
		}
	}
}

/* What is known is true: in order, ports take their paths, no other length; sums agree. */
static void check_known(struct crux_probing *probing, struct pair *p)
{
	struct crux_probing_counters c = crux_probing_counters(probing);
	uint32_t hops, n = crux_probing_paths(probing, &hops), sum = 0, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct crux_probing_path path = crux_probing_path(probing, i);
		struct crux_link_id links[HOPS];
		size_t size = (size_t)p->set->hops * sizeof(*links);

		CHECK_U64(pair_links(p, path.port, links), hops);
		CHECK_U64(memcmp(links, path.links, hops * sizeof(*links)), 0);
		sum += path.met;
		if (p->detour)
			continue;
		/* Its place in the router's set rises. */
		while (at < p->set->n &&
		       memcmp(p->set->links + (size_t)at * p->set->hops, path.links + 1, size) != 0)
			at++;
		CHECK(at < p->set->n);
	}
	CHECK_U64(sum, c.answered - c.longer);
	CHECK(c.sent >= c.answered + c.lost);
	CHECK(c.ended_s >= c.begun_s);
}

static struct crux_probing *probing_new(double miss, uint64_t seed)
{
	struct crux_probing_options options;
	struct crux_probing *probing = NULL;

	crux_probing_options_default(&options);
	options.miss = miss;
	options.seed = seed;
	CHECK_U64(crux_probing_create(&options, 1, &probing, NULL), CRUX_OK);
	return probing;
}

/*
 * With N equal paths and n met, m_n = ceil(ln miss / ln(n / (n + 1))) answers in a row bring
 * nothing new with probability q^m_n, q = n / N: the end. A stage takes (1 - q^m) / (1 - q) answers
 * in the mean, the last one m_N. So all are met with probability prod (1 - (n / N)^m_n).
 */
static void expected(uint32_t n_paths, double miss, double *missed, double *probes)
{
	double reach = 1;

	*probes = 1;
	for (uint32_t n = 1; n <= n_paths; n++) {
		double q = (double)n / n_paths;
		double m = ceil(log(miss) / log((double)n / (n + 1)) * (1 - 1e-12));

		*probes += reach * (n < n_paths ? (1 - pow(q, m)) / (1 - q) : m);
		if (n < n_paths)
			reach *= 1 - pow(q, m);
	}
	*missed = 1 - reach;
}

struct shape {
	const char *description;
	uint32_t to, n_paths; /* receiver's host, paths to it from host 0 */
};

/* 300 runs each; every run another fabric seed, order of ports and pair of NICs. */
static void measure(const struct shape *shape, double miss, double *missed, double *want)
{
	struct crux_topology *topo = preset(shape->description);
	double runs = 300, answered = 0, share, probes;
	uint32_t incomplete = 0;

	expected(shape->n_paths, miss, &share, &probes);
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct crux_probing *probing = probing_new(miss, seed);
		struct crux_router *router = NULL;
		struct pair p;

		CHECK_U64(crux_router_create(topo, seed, 0, &router, NULL), CRUX_OK);
		p = pair_make(topo, router, 0, shape->to, seed);
		CHECK_U64(p.set->n, shape->n_paths);
		probe_all(probing, &p);
		check_known(probing, &p);
		CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE);
		incomplete += crux_probing_paths(probing, NULL) < p.set->n;
		answered += crux_probing_counters(probing).answered;
		crux_probing_destroy(probing);
		crux_router_destroy(router);
	}
	printf("%-24s %2u paths, miss %g: %.1f probes (expected %.1f), %u of 300 incomplete "
	       "(expected %.2f)\n",
	       shape->description, shape->n_paths, miss, answered / runs, probes, incomplete,
	       share * runs);
	CHECK_NEAR(answered / runs, probes, 0.06 * probes);
	*missed += incomplete;
	*want += share * runs;
	crux_topology_destroy(topo);
}

static const struct shape shapes[] = {
	{"clos:aggs=1,uplinks=1", 4, 1},  {"clos:aggs=2,uplinks=1", 4, 2},
	{"clos:aggs=3,uplinks=1", 4, 3},  {"clos:aggs=4,uplinks=1", 4, 4},
	{"clos:aggs=5,uplinks=1", 8, 5},  {"clos:aggs=6,uplinks=1", 4, 6},
	{"clos:aggs=7,uplinks=1", 4, 7},  {"clos:aggs=8,uplinks=1", 12, 8},
	{"clos3:aggs=4,cores=4", 16, 16}, {"clos:aggs=1,uplinks=4", 4, 16},
	{"clos:aggs=2,uplinks=4", 4, 32},
};

static void coverage(void)
{
	const double misses[] = {1e-3, 1e-2, 0.2};

	for (int k = 0; k < 3; k++) {
		double missed = 0, want = 0;

		for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
			measure(&shapes[i], misses[k], &missed, &want);
		printf("miss %g: %.5f of the runs missed a path, %.5f expected\n", misses[k],
		       missed / 3300, want / 3300);
		/* A sum of rare events: its deviation is the root of its mean; 4 of them. */
		CHECK_NEAR(missed, want, 4 * sqrt(want));
	}
}

/* Losses make it longer, not wrong; doubled answers are late. */
static void losses(void)
{
	struct crux_topology *topo = preset("clos3:aggs=4,cores=4");
	struct crux_router *router = NULL;

	CHECK_U64(crux_router_create(topo, 1, 0, &router, NULL), CRUX_OK);
	for (int k = 0; k < 2; k++) {
		uint32_t incomplete = 0, late = 0, unreachable = 0;
		double sent = 0, lost = 0, share, probes;

		expected(16, 1e-3, &share, &probes);
		for (uint64_t seed = 0; seed < 300; seed++) {
			struct crux_probing *probing = probing_new(1e-3, seed);
			struct pair p = pair_make(topo, router, 0, 16 + (uint32_t)seed % 16, seed);

			p.loss = k ? 0.5 : 0.1;
			p.twice = 0.3;
			probe_all(probing, &p);
			check_known(probing, &p);
			unreachable += crux_probing_state(probing) == CRUX_PROBING_UNREACHABLE;
			incomplete += crux_probing_paths(probing, NULL) < 16;
			late += crux_probing_counters(probing).late;
			sent += crux_probing_counters(probing).sent;
			lost += crux_probing_counters(probing).lost;
			crux_probing_destroy(probing);
		}
		printf("loss %g: %.1f probes, %.3f of them lost, %u of 300 incomplete, "
		       "%u unreachable\n",
		       k ? 0.5 : 0.1, sent / 300, lost / sent, incomplete, unreachable);
		/* probes / (1 - loss) are sent, up to the burst that flies at the end. */
		CHECK_NEAR(sent / 300, probes / (k ? 0.5 : 0.9), 0.06 * probes / (k ? 0.5 : 0.9));
		CHECK_NEAR(lost / sent, k ? 0.5 : 0.1, 0.02);
		CHECK(late > 0);
		/* 16 in a row at 0.5: about 165 x 2^-16 of the runs, 0.75 of 300. */
		CHECK(unreachable <= (k ? 5 : 0));
		CHECK(incomplete <= 5 + unreachable);
	}
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

static void unreachable(void)
{
	struct crux_probing *probing = probing_new(1e-3, 3);
	struct crux_topology *topo = preset("clos");
	struct crux_router *router = NULL;
	struct crux_probing_counters c;
	struct pair p;

	CHECK_U64(crux_router_create(topo, 1, 0, &router, NULL), CRUX_OK);
	p = pair_make(topo, router, 0, 4, 0);
	p.loss = 1;
	CHECK(isnan(crux_probing_counters(probing).ended_s));
	probe_all(probing, &p);
	c = crux_probing_counters(probing);
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_UNREACHABLE);
	/* 8 at 1 s are lost at 1.001 s, the 8 sent then at 1.002 s: 16 in a row. */
	CHECK_U64(c.sent, 16);
	CHECK_U64(c.lost, 16);
	CHECK_NEAR(c.ended_s, 1.002, 1e-12);
	CHECK_U64(crux_probing_paths(probing, NULL), 0);
	crux_probing_destroy(probing);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/* A step by hand: one path ends after 1 + 10 answers; 2^-10 < 1e-3 < 2^-9. */
static void by_hand(void)
{
	struct crux_probing *probing = probing_new(1e-3, 5);
	struct crux_link_id a[] = {{7}, {9}}, shorter[] = {{8}}, longer[] = {{1}, {2}, {3}};
	uint16_t port[8], more;
	uint32_t hops;

	for (int i = 0; i < 8; i++) {
		CHECK_NEAR(crux_probing_due_s(probing), 1, 0);
		CHECK(crux_probing_next(probing, 1, &port[i]));
	}
	CHECK(!crux_probing_next(probing, 1, &more)); /* the burst */
	CHECK_NEAR(crux_probing_due_s(probing), 1.001, 1e-12);
	CHECK_U64(crux_probing_answer(probing, 1, port[0], a, 0, NULL), CRUX_INVALID);
	CHECK_U64(crux_probing_answer(probing, 1, port[0], longer, 3, NULL), CRUX_OK);
	CHECK_U64(crux_probing_answer(probing, 1, port[1], longer, 3, NULL), CRUX_OK);
	CHECK_U64(crux_probing_answer(probing, 1, port[1], a, 2, NULL), CRUX_OK); /* doubled */
	CHECK_U64(crux_probing_paths(probing, &hops), 1);
	CHECK_U64(hops, 3);
	CHECK_U64(crux_probing_answer(probing, 1, port[2], a, 2, NULL), CRUX_OK);
	CHECK_U64(crux_probing_answer(probing, 1, port[3], longer, 3, NULL), CRUX_OK);
	CHECK_U64(crux_probing_paths(probing, &hops), 1);
	CHECK_U64(hops, 2);
	CHECK_U64(crux_probing_path(probing, 0).port, port[2]);
	CHECK_U64(crux_probing_answer(probing, 1.001, port[4], a, 2, NULL), CRUX_OK); /* late */
	CHECK_U64(crux_probing_counters(probing).lost, 4);
	CHECK_U64(crux_probing_counters(probing).late, 2);
	CHECK_U64(crux_probing_counters(probing).longer, 3);
	for (int i = 0; i < 11; i++) {
		CHECK_U64(crux_probing_state(probing), CRUX_PROBING_RUNS);
		CHECK(crux_probing_next(probing, 2, &more));
		CHECK_U64(crux_probing_answer(probing, 2, more, i ? shorter : a, i ? 1 : 2, NULL),
			  CRUX_OK);
	}
	/* Met anew at i = 1, nothing new at 2..10: nine; one is enough, one may fly. */
	CHECK(crux_probing_next(probing, 2, &port[0]));
	CHECK(!crux_probing_next(probing, 2, &more));
	CHECK_U64(crux_probing_answer(probing, 2, port[0], shorter, 1, NULL), CRUX_OK);
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE);
	CHECK_U64(crux_probing_counters(probing).longer, 5); /* and twice a */
	CHECK_U64(crux_probing_path(probing, 0).met, 11);
	CHECK_NEAR(crux_probing_due_s(probing), INFINITY, 0);
	CHECK(!crux_probing_next(probing, 3, &more));
	crux_probing_destroy(probing);
}

/* Half of the ports go round a failure, with a link more: only the others count. */
static void detours(void)
{
	struct crux_topology *topo = preset("clos:aggs=4,uplinks=1");
	struct crux_router *router = NULL;

	CHECK_U64(crux_router_create(topo, 1, 0, &router, NULL), CRUX_OK);
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct crux_probing *probing = probing_new(1e-4, seed);
		struct pair p = pair_make(topo, router, 0, 4, seed);
		uint32_t hops;

		p.detour = 4;
		probe_all(probing, &p);
		check_known(probing, &p);
		CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE);
		/* 1e-4 of the runs may miss one: not of these hundred. */
		CHECK_U64(crux_probing_paths(probing, &hops), 4);
		CHECK_U64(hops, 4); /* NIC, ToR, aggregation, ToR, NIC */
		CHECK(crux_probing_counters(probing).longer > 0);
		crux_probing_destroy(probing);
	}
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

static struct crux_probing *asking_new(const uint16_t *ports, uint32_t n, uint64_t seed)
{
	struct crux_probing_options options;
	struct crux_probing *probing = NULL;

	crux_probing_options_default(&options);
	options.seed = seed;
	options.n_asked = n;
	options.asked_ports = ports;
	CHECK_U64(crux_probing_create(&options, 1, &probing, NULL), CRUX_OK);
	return probing;
}

/* Asked ports go first and keep probing alive; their paths move with what is met later. */
static void asked_by_hand(void)
{
	const uint16_t ports[] = {100, 49152, 50000};
	struct crux_link_id a[] = {{7}, {9}}, b[] = {{7}, {8}}, c[] = {{6}, {8}};
	struct crux_probing *probing = asking_new(ports, 3, 5);
	uint16_t port, other;
	uint32_t n = 0;

	for (int i = 0; i < 3; i++) {
		CHECK(crux_probing_next(probing, 1, &port));
		CHECK_U64(port, ports[i]);
		CHECK_U64(crux_probing_asked(probing, (uint32_t)i), CRUX_NONE);
	}
	CHECK(crux_probing_next(probing, 1, &other));
	CHECK_U64(crux_probing_answer(probing, 1, ports[1], a, 2, NULL), CRUX_OK);
	CHECK_U64(crux_probing_asked(probing, 1), 0);
	CHECK_U64(crux_probing_answer(probing, 1, ports[2], c, 2, NULL), CRUX_OK);
	CHECK_U64(crux_probing_asked(probing, 1), 1); /* c, a */
	CHECK_U64(crux_probing_asked(probing, 2), 0);
	CHECK_U64(crux_probing_answer(probing, 1, other, b, 2, NULL), CRUX_OK);
	CHECK_U64(crux_probing_asked(probing, 1), 2); /* c, b, a */
	CHECK_U64(crux_probing_asked(probing, 2), 0);
	/* Three paths: 25 answers without news are enough, 0.75^25 < 1e-3 < 0.75^24; but one that
	 * was asked for is lost, and is tried again when they have come. */
	while (crux_probing_next(probing, 2, &port) && n < 25) {
		CHECK(port != ports[0]);
		CHECK(port != ports[1] && port != ports[2]);
		CHECK_U64(crux_probing_answer(probing, 2, port, a, 2, NULL), CRUX_OK);
		n++;
	}
	CHECK_U64(n, 25);
	CHECK_U64(port, ports[0]);
	CHECK_U64(crux_probing_counters(probing).lost, 1);
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_RUNS);
	CHECK(!crux_probing_next(probing, 2, &other));
	CHECK_U64(crux_probing_answer(probing, 2, port, b, 2, NULL), CRUX_OK);
	CHECK_U64(crux_probing_asked(probing, 0), 1);
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE);
	CHECK_U64(crux_probing_path(probing, 1).met, 2);
	crux_probing_destroy(probing);
}

/* A shorter path makes those before no candidates; a longer one is none, but an answer. */
static void asked_longer(void)
{
	const uint16_t ports[] = {50000, 50001};
	struct crux_link_id a[] = {{7}, {9}}, longer[] = {{7}, {1}, {9}};
	struct crux_probing *probing = asking_new(ports, 2, 5);
	uint16_t port;
	uint32_t sent = 0;

	CHECK(crux_probing_next(probing, 1, &port));
	CHECK(crux_probing_next(probing, 1, &port));
	CHECK_U64(crux_probing_answer(probing, 1, ports[0], longer, 3, NULL), CRUX_OK);
	CHECK_U64(crux_probing_asked(probing, 0), 0);
	CHECK_U64(crux_probing_answer(probing, 1, ports[1], a, 2, NULL), CRUX_OK);
	CHECK_U64(crux_probing_asked(probing, 0), CRUX_NONE);
	CHECK_U64(crux_probing_asked(probing, 1), 0);
	for (; crux_probing_next(probing, 1, &port); sent++)
		CHECK_U64(crux_probing_answer(probing, 1, port, a, 2, NULL), CRUX_OK);
	CHECK_U64(sent, 10); /* as for one path that nobody asked for */
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE);
	crux_probing_destroy(probing);
}

/*
 * All asked ports lie on a dead path: 20 of them are lost 4 times each, and that the pair is
 * unreachable is not said. Where all is dead it is: 20 asked ones and 16 others are sent.
 */
static void asked_dead(void)
{
	uint16_t ports[20], port;
	struct crux_link_id a[] = {{7}, {9}};
	struct crux_probing *probing;
	double now_s = 1;

	for (uint16_t i = 0; i < 20; i++)
		ports[i] = (uint16_t)(60000 + i);
	for (int all = 0; all < 2; all++) {
		probing = asking_new(ports, 20, 5);
		while (!isinf(now_s = crux_probing_due_s(probing)))
			while (crux_probing_next(probing, now_s, &port))
				if (!all && !(port >= 60000 && port < 60020))
					CHECK_U64(crux_probing_answer(probing, now_s, port, a, 2,
								      NULL),
						  CRUX_OK);
		CHECK_U64(crux_probing_state(probing),
			  all ? CRUX_PROBING_UNREACHABLE : CRUX_PROBING_DONE);
		CHECK_U64(crux_probing_counters(probing).lost, all ? 20 + 16 : 80);
		CHECK_U64(crux_probing_counters(probing).answered, all ? 0 : 11);
		for (uint32_t i = 0; i < 20; i++)
			CHECK_U64(crux_probing_asked(probing, i), CRUX_NONE);
		crux_probing_destroy(probing);
	}
}

/* What asked ports are said to take is what the router says, with losses and without. */
static void asked_routed(void)
{
	struct crux_topology *topo = preset("clos3:aggs=4,cores=4");
	struct crux_router *router = NULL;
	uint32_t unknown[2] = {0, 0};

	CHECK_U64(crux_router_create(topo, 1, 0, &router, NULL), CRUX_OK);
	for (uint64_t seed = 0; seed < 200; seed++) {
		uint16_t ports[30];
		struct pair p = pair_make(topo, router, 0, 16 + (uint32_t)seed % 16, seed);
		struct crux_link_id links[HOPS];
		struct crux_probing *probing;

		for (uint16_t i = 0; i < 30; i++)
			ports[i] = (uint16_t)(49152 + seed * 7 + i * 500u);
		probing = asking_new(ports, 30, seed);
		p.loss = seed % 2 ? 0.2 : 0;
		probe_all(probing, &p);
		check_known(probing, &p);
		for (uint32_t i = 0; i < 30; i++) {
			uint32_t at = crux_probing_asked(probing, i), n;

			unknown[seed % 2] += at == CRUX_NONE;
			if (at == CRUX_NONE)
				continue;
			n = pair_links(&p, ports[i], links);
			CHECK_U64(memcmp(links, crux_probing_path(probing, at).links,
					 n * sizeof(*links)),
				  0);
		}
		crux_probing_destroy(probing);
	}
	CHECK_U64(unknown[0], 0);
	/* 100 x 30 ports are lost 4 times with probability 0.2^4: 4.8, deviation 2.2. */
	CHECK(unknown[1] <= 14);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

int main(void)
{
	RUN(by_hand);
	RUN(asked_by_hand);
	RUN(asked_longer);
	RUN(asked_dead);
	RUN(asked_routed);
	RUN(coverage);
	RUN(losses);
	RUN(unreachable);
	RUN(detours);
	return DONE();
}
