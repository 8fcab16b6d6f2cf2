/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-matching-lemon: LEMON's MaxWeightedMatching behind a C function. The one C++ file of
 * libcrux: nothing of it is seen outside, and no exception leaves it. Formatted as its C
 * neighbours.
 *
 * Place: model/core/cxx (C++17). Depends on matching-private.h, LEMON's headers (no library).
 */
#define LEMON_ONLY_TEMPLATES
#include "matching-private.h"

/* Its maps copy fresh arcs, which have no number yet. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <lemon/matching.h>
#include <lemon/smart_graph.h>
#include <new>

extern "C" bool matching_lemon(uint32_t n, const struct crux_matching_edge *edges, size_t n_edges,
			       uint32_t *mate)
{
	using Graph = lemon::SmartGraph;
	using Weights = Graph::EdgeMap<int64_t>;

	try {
		Graph graph;
		graph.reserveNode(static_cast<int>(n));
		graph.reserveEdge(static_cast<int>(n_edges));
		for (uint32_t i = 0; i < n; i++)
			graph.addNode();
		Weights weights(graph);
		for (size_t i = 0; i < n_edges; i++)
			weights[graph.addEdge(Graph::nodeFromId(static_cast<int>(edges[i].u)),
					      Graph::nodeFromId(static_cast<int>(edges[i].v)))] =
				edges[i].weight;
		lemon::MaxWeightedMatching<Graph, Weights> matching(graph, weights);
		matching.run();
		for (uint32_t i = 0; i < n; i++) {
			Graph::Node other = matching.mate(Graph::nodeFromId(static_cast<int>(i)));

			mate[i] = other == lemon::INVALID ? CRUX_NONE
							  : static_cast<uint32_t>(Graph::id(other));
		}
		return true;
	} catch (const std::bad_alloc &) {
		return false;
	}
}
