/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host-xml: see crux-host-xml.h. Reads the file's elements; crux-host-xml-plan.c makes the
 * host of them.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-spec, expat.
 */
#include "host-xml-private.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES (UINT64_C(16) << 20)

static const char *const tags[XML_OTHER] = {"system", "cpu", "pci", "gpu", "nic", "net", "nvlink"};

const char *xml_tag_name(enum xml_tag tag)
{
	return (unsigned)tag < XML_OTHER ? tags[tag] : "?";
}

const char *xml_value(const struct xml_element *e, const char *key)
{
	const char *p = e->text;

	while (*p) {
		const char *value = p + strlen(p) + 1;

		if (!strcmp(p, key))
			return value;
		p = value + strlen(value) + 1;
	}
	return NULL;
}

enum crux_status xml_fail(const struct xml_file *file, const struct xml_element *e,
			  enum crux_status status, struct crux_error *err, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return crux_fail(err, status, "%.200s:%u: %s", file->path, e->line, text);
}

enum crux_status xml_whole(const struct xml_file *file, const struct xml_element *e,
			   const char *key, uint64_t low, uint64_t high, uint64_t *out,
			   struct crux_error *err)
{
	const char *value = xml_value(e, key);
	enum crux_status status;
	char what[64];

	if (!value)
		return xml_fail(file, e, CRUX_SYNTAX, err, "<%s> has no attribute %s",
				xml_tag_name(e->tag), key);
	snprintf(what, sizeof(what), "%s of <%s>", key, xml_tag_name(e->tag));
	status = crux_parse_whole(value, low, high, what, out, err);
	if (status)
		crux_fail_prefix(err, "%.200s:%u: ", file->path, e->line);
	return status;
}

#ifdef CRUX_HAVE_EXPAT

#include <expat.h>

#define MAX_ELEMENTS 10000

struct reader {
	XML_Parser parser;
	struct xml_file *file;
	uint32_t open; /* the innermost open element, CRUX_NONE outside the root */
	enum crux_status status;
	struct crux_error *err;
};

static void *xml_new(size_t bytes)
{
	return crux_array(bytes, 1);
}

static void *xml_grow(void *old, size_t bytes)
{
	return crux_resize(old, bytes, 1);
}

static void stop(struct reader *r, enum crux_status status)
{
	r->status = status;
	XML_StopParser(r->parser, XML_FALSE);
}

/* Which element may be inside which. */
static bool fits(enum xml_tag tag, enum xml_tag parent)
{
	switch (tag) {
	case XML_SYSTEM:
		return false;
	case XML_CPU:
		return parent == XML_SYSTEM;
	case XML_PCI:
	case XML_NIC:
		return parent == XML_CPU || parent == XML_PCI;
	case XML_GPU:
		return parent == XML_PCI;
	case XML_NET:
		return parent == XML_NIC;
	case XML_NVLINK:
		return parent == XML_GPU;
	default:
		return true;
	}
}

/* Attributes as key, value, ..., ""; of an unknown element its name alone. */
static char *pack(enum xml_tag tag, const char *name, const char **attributes)
{
	static const char *const none[] = {NULL};
	const char *const *list = tag == XML_OTHER ? none : attributes;
	size_t size = tag == XML_OTHER ? strlen(name) + 3 : 1, i;
	char *text, *p;

	for (i = 0; list[i]; i++)
		size += strlen(list[i]) + 1;
	p = text = crux_array(size, 1);
	if (!text)
		return NULL;
	if (tag == XML_OTHER) {
		memcpy(p, name, strlen(name) + 1);
		p += strlen(name) + 1;
		*p++ = 0;
	}
	for (i = 0; list[i]; i++) {
		memcpy(p, list[i], strlen(list[i]) + 1);
		p += strlen(list[i]) + 1;
	}
	*p = 0;
	return text;
}

static enum crux_status check_place(const struct reader *r, const struct xml_element *e,
				    const char *name)
{
	const struct xml_file *file = r->file;

	if (r->open == CRUX_NONE)
		return e->tag == XML_SYSTEM
			       ? CRUX_OK
			       : xml_fail(file, e, CRUX_SYNTAX, r->err,
					  "<%.40s> where <system> is meant (an NCCL topology)",
					  name);
	if (!fits(e->tag, file->elements[r->open].tag))
		return xml_fail(file, e, CRUX_SYNTAX, r->err,
				"<%.40s> inside <%s>: not meant there", name,
				xml_tag_name(file->elements[r->open].tag));
	if (file->n >= MAX_ELEMENTS)
		return xml_fail(file, e, CRUX_LIMIT, r->err, "more than %d elements", MAX_ELEMENTS);
	return CRUX_OK;
}

static void XMLCALL start_element(void *data, const char *name, const char **attributes)
{
	struct reader *r = data;
	struct xml_file *file = r->file;
	struct xml_element e = {.tag = 0, .parent = r->open};
	void *elements = file->elements;
	enum crux_status status;

	if (r->status)
		return;
	e.line = (uint32_t)XML_GetCurrentLineNumber(r->parser);
	while (e.tag < XML_OTHER && strcmp(name, tags[e.tag]) != 0)
		e.tag++;
	if (r->open != CRUX_NONE && file->elements[r->open].tag == XML_OTHER)
		e.tag = XML_OTHER;
	status = check_place(r, &e, name);
	if (!status)
		status = crux_reserve(&elements, &file->cap, file->n + 1, sizeof(e), r->err);
	file->elements = elements;
	if (!status) {
		e.text = pack(e.tag, name, attributes);
		if (!e.text)
			status = crux_fail(r->err, CRUX_NOMEM, "out of memory for %.200s",
					   file->path);
	}
	if (status) {
		stop(r, status);
		return;
	}
	r->open = (uint32_t)file->n;
	file->elements[file->n++] = e;
}

static void XMLCALL end_element(void *data, const char *name)
{
	struct reader *r = data;

	(void)name;
	if (!r->status)
		r->open = r->file->elements[r->open].parent;
}

/* Entities have no place here. */
static void XMLCALL start_doctype(void *data, const char *name, const char *system,
				  const char *public_id, int internal)
{
	struct reader *r = data;

	(void)name;
	(void)system;
	(void)public_id;
	(void)internal;
	if (!r->status)
		stop(r,
		     crux_fail(r->err, CRUX_SYNTAX,
			       "%.200s:%lu: a document type, which an NCCL topology has not",
			       r->file->path, (unsigned long)XML_GetCurrentLineNumber(r->parser)));
}

static enum crux_status parse(struct xml_file *file, const char *data, size_t size,
			      struct crux_error *err)
{
	const XML_Memory_Handling_Suite memory = {xml_new, xml_grow, crux_free};
	struct reader r = {.file = file, .open = CRUX_NONE, .err = err};

	r.parser = XML_ParserCreate_MM(NULL, &memory, NULL);
	if (!r.parser)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %.200s", file->path);
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, start_element, end_element);
	XML_SetStartDoctypeDeclHandler(r.parser, start_doctype);
	if (XML_Parse(r.parser, data, (int)size, 1) != XML_STATUS_OK && !r.status) {
		enum XML_Error code = XML_GetErrorCode(r.parser);

		if (code == XML_ERROR_NO_MEMORY)
			r.status =
				crux_fail(err, CRUX_NOMEM, "out of memory for %.200s", file->path);
		else
			r.status = crux_fail(err, CRUX_SYNTAX, "%.200s:%lu: not XML: %s",
					     file->path,
					     (unsigned long)XML_GetCurrentLineNumber(r.parser),
					     XML_ErrorString(code));
	}
	XML_ParserFree(r.parser);
	return r.status;
}

#else

static enum crux_status parse(struct xml_file *file, const char *data, size_t size,
			      struct crux_error *err)
{
	(void)data;
	(void)size;
	return crux_fail(err, CRUX_LIMIT,
			 "%.200s: this build reads no XML: it was configured without expat "
			 "(libexpat1-dev)",
			 file->path);
}

#endif

enum crux_status crux_host_plan_xml(const char *path, const struct crux_host_xml *options,
				    struct crux_host_plan *out, struct crux_text *notes,
				    struct crux_error *err)
{
	struct xml_file file = {.path = path};
	char *data = NULL;
	size_t size, i;
	enum crux_status status = crux_read_file(path, MAX_BYTES, &data, &size, err);

	if (status)
		return status;
	status = parse(&file, data, size, err);
	crux_free(data);
	if (!status)
		status = xml_plan(&file, options, out, notes, err);
	for (i = 0; i < file.n; i++)
		crux_free(file.elements[i].text);
	crux_free(file.elements);
	return status;
}
