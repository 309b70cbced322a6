// SPDX-License-Identifier: Apache-2.0
#include "debuginfo/verify.h"

#include "elf/elf_compression.h"
#include "elf/elf_file.h"
#include "elf/htlhash.h"

static bool verify_id(int fd, const struct build_id *id, bool is_stated, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct elf_file elf = { 0 };
	htlhash hash;

	if (!elf_file_read(&elf, fd, err))
		return false;
	if (elf.build_id_len) {
		str own = str_hex(&arena, (str){ (char *)elf.build_id, elf.build_id_len });

		return build_id_is(id, elf.build_id, elf.build_id_len) ||
		       err_set(err, ERR_INVALID, "the build id of the file is " STR_FMT,
			       STR_ARG(own));
	}
	if (is_stated)
		return true;
	if (!id->is_hash)
		return err_set(err, ERR_INVALID,
			       "the file has no build id; stating one requires the upload token");
	if (!htlhash_of_fd(fd, &hash, err))
		return false;
	return str_ends_with(str_from(id->text), (str){ hash.hex, sizeof(hash.hex) }) ||
	       err_set(err, ERR_INVALID, "the hash of the file is htlhash:%.*s",
		       (int)sizeof(hash.hex), hash.hex);
}

bool verify_file(int fd, const struct build_id *id, bool is_stated,
		 struct debug_contents *ret_contents, struct err *err)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;

	if (!elf_sections_read(fd, &arena, &sections, err) ||
	    !elf_compression_check(fd, &sections, err) || !verify_id(fd, id, is_stated, err))
		return false;
	*ret_contents = debug_contents_of(fd, &sections);
	return true;
}

struct debug_contents verified_contents(int fd)
{
	AUTO_ARENA arena = { 0 };
	struct elf_sections sections;
	struct err err;

	if (!elf_sections_read(fd, &arena, &sections, &err))
		return (struct debug_contents){ 0 };
	return debug_contents_of(fd, &sections);
}
