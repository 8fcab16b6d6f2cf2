/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-memo: see tracesim-memo.h. Depends on crux-base.
 */
#include "tracesim-memo.h"

#include "tracesim-private.h"

#include <string.h>

#define MOST_JOBS 64
#define FIRST	  16384	     /* solves before the table begins */
#define WINDOW	  8192	     /* look-ups */
#define GRACE	  2	     /* windows */
#define STORE	  (1u << 18) /* words of entries */
#define SLOTS	  (1u << 14)

static uint32_t words(uint32_t n)
{
	return (n + 63) / 64;
}

size_t memo_layout(struct rate_memo *m, void *base, struct rates *r, uint32_t n_jobs)
{
	size_t used = 0, n = r->n_flows;

	*m = (struct rate_memo){
		.r = r, .n_jobs = n_jobs, .given_up = n_jobs > MOST_JOBS, .first = FIRST};
	m->jobs = lay(base, &used, n_jobs, sizeof(*m->jobs));
	m->job_of = lay(base, &used, n, sizeof(*m->job_of));
	/* A word for every 64 flows, and one begun for each job. */
	m->set = lay(base, &used, words(r->n_flows) + n_jobs, sizeof(*m->set));
	m->told = lay(base, &used, n, sizeof(*m->told));
	m->changed = lay(base, &used, n, sizeof(*m->changed));
	return used;
}

void memo_job(struct rate_memo *m, uint32_t j, uint32_t first, uint32_t n)
{
	uint32_t word = j ? m->jobs[j - 1].word + words(m->jobs[j - 1].n) : 0;

	m->jobs[j] = (struct memo_job){.first = first, .n = n, .word = word};
	for (uint32_t f = first; f < first + n; f++)
		m->job_of[f] = j;
}

void memo_clear(struct rate_memo *m)
{
	crux_free(m->store);
	crux_free(m->slot);
	m->store = NULL;
	m->slot = NULL;
}

static uint64_t bit(uint32_t j)
{
	return (uint64_t)1 << j;
}

static bool moves(const struct rate_memo *m, const struct memo_job *job, uint32_t f)
{
	return m->set[job->word + (f - job->first) / 64] >> ((f - job->first) % 64) & 1;
}

static void toggle(struct rate_memo *m, uint32_t f, bool on)
{
	uint32_t j = m->job_of[f], i = f - m->jobs[j].first;
	struct memo_job *job = &m->jobs[j];

	m->set[job->word + i / 64] ^= bit(i % 64);
	job->key ^= crux_mix64(f + 1);
	job->moving += on ? 1 : -1u;
	m->moving = job->moving ? m->moving | bit(j) : m->moving & ~bit(j);
	m->touched |= bit(j);
	m->told[f] = 0;
}

void memo_start(struct rate_memo *m, uint32_t f)
{
	if (m->on)
		toggle(m, f, true);
	else
		rates_start(m->r, f);
}

void memo_stop(struct rate_memo *m, uint32_t f)
{
	if (m->on)
		toggle(m, f, false);
	else
		rates_stop(m->r, f);
}

static void empty(struct rate_memo *m)
{
	memset(m->slot, 0, SLOTS * sizeof(*m->slot));
	m->used = m->entries = 0;
}

/* Who shares links with whom. */
static void find_meetings(struct rate_memo *m)
{
	const struct rates *r = m->r;

	for (uint32_t e = 0; e < r->n_links; e++) {
		size_t from = (size_t)e * r->n_levels;
		uint64_t jobs = 0;

		for (uint32_t i = r->at[from]; i < r->at[from + r->n_levels]; i++)
			jobs |= bit(m->job_of[r->flow[i]]);
		for (uint64_t rest = jobs; rest; rest &= rest - 1)
			m->jobs[__builtin_ctzll(rest)].meets |= jobs;
	}
}

static void turn_on(struct rate_memo *m)
{
	const struct rates *r = m->r;

	m->store = crux_array(STORE, sizeof(*m->store));
	m->slot = crux_array(SLOTS, sizeof(*m->slot));
	if (!m->store || !m->slot) {
		memo_clear(m);
		m->given_up = true;
		return;
	}
	empty(m);
	find_meetings(m);
	m->on = true;
	for (uint32_t f = 0; f < r->n_flows; f++)
		if (r->active[f])
			toggle(m, f, true);
	memcpy(m->told, r->rate, r->n_flows * sizeof(*m->told));
	m->solved = m->moving;
	m->touched = 0;
}

/* The solver, for the flows of these jobs that move and no others, from where it is. */
static void solve(struct rate_memo *m, uint64_t jobs)
{
	for (int start = 0; start < 2; start++)
		for (uint64_t rest = m->solved | jobs; rest; rest &= rest - 1) {
			uint32_t j = (uint32_t)__builtin_ctzll(rest);
			const struct memo_job *job = &m->jobs[j];

			for (uint32_t f = job->first; f < job->first + job->n; f++) {
				bool wanted = jobs >> j & 1 && moves(m, job, f);

				if (wanted == m->r->active[f])
					continue;
				if (start)
					rates_start(m->r, f);
				else if (!wanted)
					rates_stop(m->r, f);
			}
		}
	m->solved = jobs;
	rates_solve(m->r);
}

static void give_up(struct rate_memo *m)
{
	solve(m, m->moving);
	m->on = false;
	m->given_up = true;
	memo_clear(m);
}

static uint64_t key_of(const struct rate_memo *m, uint64_t jobs)
{
	uint64_t key = 0;

	for (; jobs; jobs &= jobs - 1)
		key ^= m->jobs[__builtin_ctzll(jobs)].key;
	return key;
}

/* The rates of the entry, if it is of this set. */
static const uint64_t *match(const struct rate_memo *m, const uint64_t *entry, uint64_t key,
			     uint64_t jobs)
{
	if (*entry++ != key || *entry++ != jobs)
		return NULL;
	for (; jobs; jobs &= jobs - 1) {
		const struct memo_job *job = &m->jobs[__builtin_ctzll(jobs)];

		for (uint32_t w = 0; w < words(job->n); w++)
			if (*entry++ != m->set[job->word + w])
				return NULL;
	}
	return entry;
}

/* The slot of the cluster's set, with its rates; or the free one where it belongs. */
static uint32_t find(const struct rate_memo *m, uint64_t key, uint64_t jobs, const uint64_t **rate)
{
	uint32_t i = (uint32_t)key & (SLOTS - 1);

	*rate = NULL;
	while (m->slot[i] && !(*rate = match(m, m->store + m->slot[i] - 1, key, jobs)))
		i = (i + 1) & (SLOTS - 1);
	return i;
}

/* Keep the solver's rates. */
static void keep(struct rate_memo *m, uint64_t key, uint64_t jobs)
{
	const uint64_t *rate;
	uint64_t *entry;
	uint32_t n = 2, at;

	for (uint64_t rest = jobs; rest; rest &= rest - 1) {
		const struct memo_job *job = &m->jobs[__builtin_ctzll(rest)];

		n += words(job->n) + job->moving;
	}
	if (n > STORE)
		return;
	if (m->used + n > STORE || m->entries == SLOTS / 2)
		empty(m);
	at = find(m, key, jobs, &rate);
	entry = m->store + m->used;
	m->slot[at] = m->used + 1;
	m->used += n;
	m->entries++;
	*entry++ = key;
	*entry++ = jobs;
	for (uint64_t rest = jobs; rest; rest &= rest - 1) {
		const struct memo_job *job = &m->jobs[__builtin_ctzll(rest)];

		memcpy(entry, m->set + job->word, words(job->n) * sizeof(*entry));
		entry += words(job->n);
	}
	for (; jobs; jobs &= jobs - 1) {
		const struct memo_job *job = &m->jobs[__builtin_ctzll(jobs)];

		for (uint32_t f = job->first; f < job->first + job->n; f++)
			if (moves(m, job, f))
				*entry++ = m->r->rate[f];
	}
}

/* List the cluster's flows whose rate, the next of `rate` or, NULL, the solver's, is another. */
static uint32_t tell(struct rate_memo *m, uint64_t jobs, const uint64_t *rate, uint32_t changed)
{
	for (; jobs; jobs &= jobs - 1) {
		const struct memo_job *job = &m->jobs[__builtin_ctzll(jobs)];

		for (uint32_t w = 0; w < words(job->n); w++)
			for (uint64_t set = m->set[job->word + w]; set; set &= set - 1) {
				uint32_t f = job->first + 64 * w + (uint32_t)__builtin_ctzll(set);
				uint64_t now = rate ? *rate++ : m->r->rate[f];

				if (now == m->told[f])
					continue;
				m->told[f] = now;
				m->changed[changed++] = f;
			}
	}
	return changed;
}

/* The jobs that move and meet job j, directly or through each other. */
static uint64_t cluster(const struct rate_memo *m, uint32_t j)
{
	uint64_t found = bit(j), rest = found;

	while (rest) {
		uint64_t more = m->jobs[__builtin_ctzll(rest)].meets & m->moving & ~found;

		rest = (rest & (rest - 1)) | more;
		found |= more;
	}
	return found;
}

/* Jobs with moving flows whose cluster is another now. */
static uint64_t seeds(const struct rate_memo *m)
{
	uint64_t found = m->touched & m->moving;

	for (uint64_t gone = m->touched & ~m->moving; gone; gone &= gone - 1)
		found |= m->jobs[__builtin_ctzll(gone)].meets & m->moving;
	return found;
}

static uint32_t look_up(struct rate_memo *m, uint64_t jobs, uint32_t changed)
{
	uint64_t key = key_of(m, jobs);
	const uint64_t *rate;

	find(m, key, jobs, &rate);
	m->asked++;
	if (rate) {
		m->found++;
		return tell(m, jobs, rate, changed);
	}
	solve(m, jobs);
	changed = tell(m, jobs, NULL, changed);
	keep(m, key, jobs);
	return changed;
}

static void judge(struct rate_memo *m)
{
	if (m->asked < WINDOW)
		return;
	if (++m->windows > GRACE && m->found < m->asked / 2)
		give_up(m);
	m->asked = m->found = 0;
}

uint32_t memo_solve(struct rate_memo *m)
{
	uint32_t changed = 0;

	if (!m->on) {
		changed = rates_solve(m->r);
		memcpy(m->changed, m->r->changed, changed * sizeof(*m->changed));
		if (!m->given_up && ++m->solves == m->first)
			turn_on(m);
		return changed;
	}
	for (uint64_t rest = seeds(m); rest;) {
		uint64_t jobs = cluster(m, (uint32_t)__builtin_ctzll(rest));

		changed = look_up(m, jobs, changed);
		rest &= ~jobs;
	}
	m->touched = 0;
	judge(m);
	return changed;
}
