// SPDX-License-Identifier: Apache-2.0
#include "question.h"

#include "debuginfo_limits.h"

const char *const question_names[ASK_KIND_COUNT] = {
	[ASK_DEBUGINFO] = "debuginfo",
	[ASK_EXECUTABLE] = "executable",
	[ASK_SECTION] = "section",
	[ASK_SOURCE] = "source",
};

static bool kind_parse(str name, enum question_kind *ret_kind)
{
	for (enum question_kind kind = 0; kind < ASK_KIND_COUNT; kind++)
		if (str_eq(name, str_from(question_names[kind]))) {
			*ret_kind = kind;
			return true;
		}
	return false;
}

static bool rest_check(enum question_kind kind, str rest, struct err *err)
{
	bool has_nul = rest.len && memchr(rest.ptr, 0, rest.len);

	switch (kind) {
	case ASK_DEBUGINFO:
	case ASK_EXECUTABLE:
		return rest.len == 0 ||
		       err_set(err, ERR_NOT_FOUND, "there is nothing below a build id's %s",
			       question_names[kind]);
	case ASK_SECTION:
		return (rest.len > 0 && rest.len <= SECTION_NAME_MAX && !has_nul) ||
		       err_set(err, ERR_INVALID, "a section's name has 1 to %d characters",
			       SECTION_NAME_MAX);
	case ASK_SOURCE:
		return (rest.len > 1 && rest.len <= SOURCE_PATH_MAX && !has_nul) ||
		       err_set(err, ERR_INVALID, "a source has an absolute path of up to %d bytes",
			       SOURCE_PATH_MAX);
	case ASK_KIND_COUNT: /* GCOVR_EXCL_START: no question has it */
		break;
	}
	return false;
	/* GCOVR_EXCL_STOP */
}

bool question_parse(str below, struct question *ret_question, struct err *err)
{
	struct question question = { 0 };
	str rest = below;
	str id = str_cut(&rest, '/');
	size_t slash = rest.len ? str_find(rest, STR("/")) : SIZE_MAX;
	str name = { rest.ptr, slash == SIZE_MAX ? rest.len : slash };

	if (!build_id_parse(id, &question.id, err))
		return false;
	if (!kind_parse(name, &question.kind))
		return err_set(
			err, ERR_NOT_FOUND,
			"a build id has debuginfo, executable, section/NAME and source/PATH");
	question.rest = str_skip(rest, name.len);
	if (question.kind == ASK_SECTION)
		question.rest = str_skip(question.rest, 1);
	if (!rest_check(question.kind, question.rest, err))
		return false;
	*ret_question = question;
	return true;
}
