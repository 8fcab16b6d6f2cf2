/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux_topology_write: what is written reads back to an equal topology.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "crux-oom-count.h"
#include "crux-topo-file.h"
#include "topo-rig.h"

#define DATA CRUX_SOURCE_DIR "/test/data/"

/* Write, read, compare. */
static void round_trip(const char *what, const struct crux_topology *topo)
{
	struct crux_topology *again = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	struct topo_rig rig;

	rig_open(&rig);
	if (crux_topology_write(topo, rig.file, &err) ||
	    rig_read(&rig, ",gpus=1,nics=1,delay_ns=77", &again, &notes, &err)) {
		CHECK_FAIL("%s: %s", what, err.text);
	} else {
		check_same(what, topo, again);
		crux_topology_destroy(again);
	}
	CHECK(!notes.text); /* nothing was left to assume */
	rig_done(&rig);
	crux_free(notes.text);
}

/* Every preset, with every kind of host. */
static void presets(void)
{
	static const char *const all[] = {
		"testbed",
		"testbed:oversub=4",
		"testbed:ports=2",
		"testbed:rails=1,tors=8",
		"testbed:cpus=2,smp_gbps=100",
		"testbed:nvlink_gbps=0",
		"testbed:pcie_switches=2,host=a100",
		"testbed:host=v100",
		"testbed:nic_gbps=33.333333333,delay_ns=17",
		"clos:tors=3,hosts=2,aggs=3,uplinks=2",
		"clos:ports=2,rails=1,host=h100",
		"clos3:pods=3,tors=2,hosts=2,aggs=3,cores=2,core_gbps=100",
		"clos3:ports=2",
		"fattree:k=4",
		"fattree:k=6,nics=1",
		"fattree:k=4,ports=2",
		"lingjun:" DATA "lingjun/topo.csv",
		"lingjun:" DATA "lingjun/topo.csv,tors=8,psw=1,dsw=1,host=h100",
		"file:" DATA "topo/asymmetric.topo",
		"testbed:host=xml:" DATA "nccl/a100.xml",
		"clos3:tors=2,host=xml:" DATA "nccl/v100-mesh.xml",
		"fattree:host=xml:" DATA "nccl/pcie.xml",
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct crux_topology *topo;
		struct crux_text notes = {NULL, 0, 0};
		struct crux_error err = {CRUX_OK, ""};

		if (crux_preset_build(all[i], &topo, &notes, &err)) {
			if (err.status != CRUX_LIMIT) /* without expat */
				CHECK_FAIL("%s: %s", all[i], err.text);
		} else {
			round_trip(all[i], topo);
			crux_topology_destroy(topo);
		}
		crux_free(notes.text);
	}
}

static enum crux_node_kind random_kind(struct crux_rng *rng)
{
	return CRUX_NODE_TOR + (enum crux_node_kind)crux_rng_below(rng, 3);
}

/* Nodes and cables in random order, through the functions of crux-topology.h. */
static struct crux_topology *random_topology(struct crux_rng *rng)
{
	struct crux_node_id sw[6], id;
	struct crux_topology *topo;
	uint32_t n = 0, host, i;
	bool ok = !crux_topology_create(&topo, NULL);
	char name[24];

	for (uint64_t steps = 3 + crux_rng_below(rng, 12); ok && steps; steps--) {
		uint64_t what = n ? crux_rng_below(rng, 3) : 0;
		struct crux_host_shape shape = {2, 1, crux_rng_next(rng) % 900000000000 + 1000,
						crux_rng_next(rng) % 900000000000 + 1000, 0};

		if (what == 0 && n < 6) {
			snprintf(name, sizeof(name), "s%u", n);
			ok = !crux_topology_add_switch(topo, random_kind(rng), name, &sw[n++],
						       NULL);
		} else if (what == 1 || n < 2) {
			shape.nics = 1 + (uint32_t)crux_rng_below(rng, 2);
			shape.intra_delay_ps = crux_rng_below(rng, 2) * 1234;
			snprintf(name, sizeof(name), "host-%u", (unsigned)steps);
			ok = !crux_topology_add_host(topo, &shape, name, &host, NULL);
			for (i = 0; ok && i < shape.nics; i++) {
				id = crux_topology_host(topo, host)->nics[i];
				ok = !crux_topology_add_cable(
					topo, id, sw[crux_rng_below(rng, n)],
					1 + crux_rng_below(rng, 400) * 1000003 + 1000,
					crux_rng_below(rng, 5000000), NULL);
			}
		} else {
			i = (uint32_t)crux_rng_below(rng, n);
			ok = !crux_topology_add_cable(topo, sw[i], sw[(i + 1) % n],
						      1000 + crux_rng_next(rng) % 1000000000000000,
						      crux_rng_below(rng, 1000000000001), NULL);
		}
	}
	ok = ok && !crux_topology_add_host(topo, &(struct crux_host_shape){1, 1, 1000, 1000, 0},
					   NULL, &host, NULL);
	ok = ok && !crux_topology_add_cable(topo, sw[0], crux_topology_host(topo, host)->nics[0],
					    1000, 0, NULL);
	if (ok && !crux_topology_freeze(topo, NULL))
		return topo;
	crux_topology_destroy(topo);
	return NULL;
}

static void random_ones(void)
{
	struct crux_rng rng;
	uint32_t made = 0;

	crux_rng_init(&rng, 11, 0);
	for (int i = 0; i < 300; i++) {
		struct crux_topology *topo = random_topology(&rng);
		char what[40];

		if (!topo)
			continue;
		snprintf(what, sizeof(what), "random %d", i);
		round_trip(what, topo);
		crux_topology_destroy(topo);
		made++;
	}
	CHECK_U64(made, 300);
}

/* A switch and a host with these names, rate and delay. */
static enum crux_status write_named(const char *sw, const char *host, uint64_t bps,
				    uint64_t delay_ps, struct crux_error *err)
{
	const struct crux_host_shape shape = {1, 1, 1000000000, 1000000000, 0};
	struct crux_topology *topo;
	struct crux_node_id id;
	struct topo_rig rig;
	enum crux_status status;
	uint32_t h = 0;

	crux_topology_create(&topo, NULL);
	crux_topology_add_switch(topo, CRUX_NODE_TOR, sw, &id, NULL);
	crux_topology_add_host(topo, &shape, host, &h, NULL);
	crux_topology_add_cable(topo, id, crux_topology_host(topo, h)->nics[0], bps, delay_ps,
				NULL);
	CHECK_U64(crux_topology_freeze(topo, NULL), CRUX_OK);
	rig_open(&rig);
	status = crux_topology_write(topo, rig.file, err);
	CHECK(!status || !ftell(rig.file)); /* an error writes nothing */
	rig_done(&rig);
	crux_topology_destroy(topo);
	return status;
}

static void refusals(void)
{
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(write_named("t", "a", 1000, 0, &err), CRUX_OK);
	CHECK_U64(write_named("t x", "a", 1000, 0, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "cannot be written: switch \"t x\"");
	CHECK_U64(write_named("t", "a#1", 1000, 0, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "host \"a#1\"");
	CHECK_U64(write_named("t", "h7", 1000, 0, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "h7");
	CHECK_U64(write_named("t", "t", 1000, 0, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "called \"t\"");
	CHECK_U64(write_named("t", "a", 999, 0, &err), CRUX_RANGE); /* 1e-6 Gbit/s: 1000 */
	CHECK_HAS(err.text, "t to h0.nic0: 999 bit/s");
	CHECK_U64(write_named("t", "a", UINT64_C(1000000000000001), 0, &err), CRUX_RANGE);
	CHECK_U64(write_named("t", "a", 1000, UINT64_C(1000000000001), &err), CRUX_RANGE);
	CHECK_HAS(err.text, "1000000000001 ps");
}

/* A full disk. */
static void full_disk(void)
{
	FILE *full = fopen("/dev/full", "wb");
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	if (!full)
		return;
	CHECK_U64(crux_preset_build("testbed", &topo, &notes, &err), CRUX_OK);
	CHECK_U64(crux_topology_write(topo, full, &err), CRUX_IO);
	fclose(full);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

static const struct crux_topology *oom_topo;

static enum crux_status write_and_gone(struct crux_error *err)
{
	FILE *file = fopen("/dev/null", "wb");
	enum crux_status status = crux_topology_write(oom_topo, file, err);

	fclose(file);
	return status;
}

static void out_of_memory(void)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};

	CHECK_U64(crux_preset_build("clos:tors=1,hosts=2", &topo, &notes, NULL), CRUX_OK);
	oom_topo = topo;
	CHECK(oom_every_count(write_and_gone, 1) > 8);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

int main(void)
{
	RUN(presets);
	RUN(random_ones);
	RUN(refusals);
	RUN(full_disk);
	RUN(out_of_memory);
	return DONE();
}
