// SPDX-License-Identifier: Apache-2.0
#include "elf/htlhash.h"

#include <openssl/evp.h>
#include <sys/stat.h>

enum { PART_BYTES = 4096, HASH_BYTES = HTLHASH_HEX_LEN / 2, SHA256_BYTES = 32 };

/* In short files head and tail overlap; below PART_BYTES each is the whole file. */
static bool hash_parts(str head, str tail, uint64_t length, htlhash *ret_hash, struct err *err)
{
	static const char digits[] = "0123456789abcdef";
	uint8_t digest[SHA256_BYTES], big_endian[8];
	EVP_MD_CTX *sha = EVP_MD_CTX_new();

	for (int i = 0; i < 8; i++)
		big_endian[i] = (uint8_t)(length >> (56 - 8 * i));

	bool ok = sha && EVP_DigestInit_ex(sha, EVP_sha256(), NULL) &&
		  EVP_DigestUpdate(sha, head.ptr, head.len) &&
		  EVP_DigestUpdate(sha, tail.ptr, tail.len) &&
		  EVP_DigestUpdate(sha, big_endian, sizeof(big_endian)) &&
		  EVP_DigestFinal_ex(sha, digest, NULL);

	EVP_MD_CTX_free(sha);
	if (!ok) /* GCOVR_EXCL_START: each libcrypto has it */
		return err_set(err, ERR_IO, "libcrypto has no SHA-256");
	/* GCOVR_EXCL_STOP */
	for (int i = 0; i < HASH_BYTES; i++) {
		ret_hash->hex[2 * i] = digits[digest[i] >> 4];
		ret_hash->hex[2 * i + 1] = digits[digest[i] & 15];
	}
	return true;
}

static bool read_part(int fd, uint64_t offset, char *to, size_t len, struct err *err)
{
	ssize_t got = pread(fd, to, len, (off_t)offset);

	if (got < 0)
		return err_errno(err, "read");
	if ((size_t)got != len) /* GCOVR_EXCL_START: a race with a process that truncates it */
		return err_set(err, ERR_IO, "the file shrank while it was read");
	/* GCOVR_EXCL_STOP */
	return true;
}

bool htlhash_of_fd(int fd, htlhash *ret_hash, struct err *err)
{
	char head[PART_BYTES], tail[PART_BYTES];
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return err_errno(err, "stat");
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_INVALID, "not a regular file");

	uint64_t length = (uint64_t)stat.st_size;
	size_t part = length < PART_BYTES ? (size_t)length : PART_BYTES;

	return read_part(fd, 0, head, part, err) && read_part(fd, length - part, tail, part, err) &&
	       hash_parts((str){ head, part }, (str){ tail, part }, length, ret_hash, err);
}

bool htlhash_of_image(str image, htlhash *ret_hash, struct err *err)
{
	size_t part = image.len < PART_BYTES ? image.len : PART_BYTES;
	str head = { image.ptr, part }, tail = { image.ptr + image.len - part, part };

	return hash_parts(head, tail, image.len, ret_hash, err);
}
