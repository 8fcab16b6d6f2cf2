/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-help: what crux-trace --help says.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <stdio.h>

void trace_usage(void)
{
	puts("usage: crux-trace --trace=FOLDER [OPTIONS]\n"
	     "  runs a cluster's trace under job schedulers and communication policies\n"
	     "  (doc/trace-command.md)\n"
	     "  --trace=FOLDER     job.csv, worker.csv, topo.csv, as crux-gen-trace writes them; "
	     "or\n"
	     "  --job-csv=FILE --worker-csv=FILE --topo-csv=FILE\n"
	     "  --format=lingjun|philly|pai  form of the trace (default lingjun); philly reads\n"
	     "                     --job-csv, pai --job-csv and --task-csv=FILE; both need "
	     "--topology\n"
	     "                     what to run: every combination of\n"
	     "  --topology=D       description of a topology; may be given several times\n"
	     "                     (default lingjun:FOLDER/topo.csv, the trace's own)\n"
	     "  --scheduler=LIST   recorded (default, of lingjun): GPUs as the trace has them;\n"
	     "                     first-fit, random, packed (default else), backfill, hived, "
	     "muri\n"
	     "  --policies=LIST    all (default: every one but optimal and crux-exact), ecmp, "
	     "crux,\n"
	     "                     ...; all,optimal\n"
	     "  --levels=LIST      priority levels K, 1 to 64 (default 8)\n"
	     "                     of what:\n"
	     "  --from-hour=H --hours=N  window of the trace (default: all of it)\n"
	     "  --work=time|iterations   a job holds its GPUs for its recorded time (default), or\n"
	     "                     for as many iterations as fit into it alone; not with recorded\n"
	     "  --ring=rank|tor    order of a job's hosts in its rings: as its workers are "
	     "numbered\n"
	     "                     (default), or by ToR\n"
	     "  --models=simple|layers   a job is one computation and one ring all-reduce "
	     "(default),\n"
	     "                     or a model as layers with its parallelism (doc/traces.md)\n"
	     "  --bytes-factor=F --compute-factor=F  on every model's traffic, computation (1)\n"
	     "  --payload=B        data of a packet, 256 to 9000 (default 4096)\n"
	     "  --fairness=W       weight of jobs' recent slowdown, 0 to 1 (default 0)\n"
	     "  --seed=S           of ECMP's ports, sampled orders, random placement (default 1)\n"
	     "                     how:\n"
	     "  --bin-minutes=M    of the time series (default 60)\n"
	     "  --tick-us=T --patience=N  of the engine (doc/trace-engine.md; default 1,\n"
	     "                     1024; patience 0: exact, and slow where jobs are scattered)\n"
	     "  --check            the engine checks every event; slow\n"
	     "  --db=FILE|none     results (default out/crux-trace.db); replaced if it is one of "
	     "crux\n"
	     "  --resume           go on with the runs that an interrupted command left\n"
	     "  --no-picture       no pictures beside the database\n"
	     "  --quiet            nothing but the tables");
}
