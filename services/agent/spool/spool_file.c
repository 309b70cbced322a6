// SPDX-License-Identifier: Apache-2.0
#include "agent/spool/spool_file_internal.h"
#include "base/hash.h"
#include "base/reader.h"

#include <inttypes.h>

/* In the file: "DSPB" and "DSPM". */
enum { BATCH_MAGIC = 0x42505344, META_MAGIC = 0x4d505344, VERSION = 1, CHECKSUM_SIZE = 8 };

static void checksum_add(struct buf *out)
{
	buf_u64(out, hash_64(buf_bytes(out)));
}

/* Verify the checksum at the end; returns the bytes before it. */
static bool checksum_verify(str file, str *ret_body, struct err *err)
{
	if (file.len < CHECKSUM_SIZE)
		return err_set(err, ERR_INVALID, "%zu bytes are too short for a file of the spool",
			       file.len);

	str body = { file.ptr, file.len - CHECKSUM_SIZE };
	struct reader end = reader_of(str_skip(file, body.len));

	if (reader_u64(&end) != hash_64(body))
		return err_set(err, ERR_INVALID, "checksum mismatch");
	*ret_body = body;
	return true;
}

static bool kind_check(struct reader *r, uint32_t magic, struct err *err)
{
	uint32_t found = reader_u32(r), version = reader_u32(r);

	if (found != magic)
		return err_set(err, ERR_INVALID, "wrong magic number");
	if (version != VERSION)
		return err_set(err, ERR_INVALID, "version %" PRIu32 ", this agent supports %d",
			       version, VERSION);
	return true;
}

str spool_batch_write(const struct spool_batch *batch, struct arena *arena)
{
	struct buf out = { .arena = arena };

	buf_reserve(&out, SPOOL_HEADER_SIZE + batch->key.len + batch->status.len +
				  batch->value.len + CHECKSUM_SIZE);
	buf_u32(&out, BATCH_MAGIC);
	buf_u32(&out, VERSION);
	buf_u64(&out, batch->epoch);
	buf_u64(&out, batch->seq);
	buf_u64(&out, batch->samples);
	buf_u64(&out, batch->time_unix_ns);
	buf_u32(&out, (uint32_t)batch->key.len);
	buf_u32(&out, (uint32_t)batch->status.len);
	buf_u32(&out, (uint32_t)batch->value.len);
	buf_u32(&out, 0);
	checksum_add(&out); /* of the header, so that an index can trust it without the rest */
	buf_str(&out, batch->key);
	buf_str(&out, batch->status);
	buf_str(&out, batch->value);
	checksum_add(&out);
	return buf_bytes(&out);
}

/* Sets only the lengths of the batch's strings; the caller sets the pointers. */
static bool header_parse(struct reader *r, struct spool_batch *batch, struct err *err)
{
	if (!kind_check(r, BATCH_MAGIC, err))
		return false;
	batch->epoch = reader_u64(r);
	batch->seq = reader_u64(r);
	batch->samples = reader_u64(r);
	batch->time_unix_ns = reader_u64(r);
	batch->key.len = reader_u32(r);
	batch->status.len = reader_u32(r);
	batch->value.len = reader_u32(r);
	reader_u32(r);
	if (batch->key.len > SPOOL_KEY_MAX || batch->status.len > SPOOL_STATUS_MAX ||
	    batch->value.len > SPOOL_VALUE_MAX)
		return err_set(err, ERR_INVALID, "a field is longer than a batch allows");
	if (batch->seq == 0)
		return err_set(err, ERR_INVALID, "sequence number 0; numbers begin with 1");
	return true;
}

bool spool_header_read(str head, struct spool_batch *ret_batch, uint64_t *ret_file_size,
		       struct err *err)
{
	struct spool_batch batch = { 0 };
	str body;

	if (head.len < SPOOL_HEADER_SIZE)
		return err_set(err, ERR_INVALID, "truncated header");
	if (!checksum_verify((str){ head.ptr, SPOOL_HEADER_SIZE }, &body, err))
		return false;

	struct reader r = reader_of(body);

	if (!header_parse(&r, &batch, err))
		return false;
	*ret_file_size = SPOOL_HEADER_SIZE + batch.key.len + batch.status.len + batch.value.len +
			 CHECKSUM_SIZE;
	*ret_batch = batch;
	return true;
}

bool spool_batch_read(str file, struct spool_batch *ret_batch, struct err *err)
{
	struct spool_batch batch;
	uint64_t size;
	str body;

	if (!spool_header_read(file, &batch, &size, err))
		return false;
	if (size != file.len)
		return err_set(err, ERR_INVALID, "%zu bytes, the header says %" PRIu64, file.len,
			       size);
	if (!checksum_verify(file, &body, err))
		return false;

	struct reader r = reader_of(str_skip(body, SPOOL_HEADER_SIZE));

	batch.key = reader_bytes(&r, batch.key.len);
	batch.status = reader_bytes(&r, batch.status.len);
	batch.value = reader_bytes(&r, batch.value.len);
	*ret_batch = batch;
	return true;
}

str spool_meta_write(const struct spool_meta *meta, struct arena *arena)
{
	struct buf out = { .arena = arena };

	buf_u32(&out, META_MAGIC);
	buf_u32(&out, VERSION);
	buf_u64(&out, meta->epoch);
	buf_u64(&out, meta->last_seq);
	for (size_t i = 0; i < ARRAY_LEN(meta->counts); i++)
		buf_u64(&out, meta->counts[i]);
	buf_u64(&out, meta->dropped.epoch);
	buf_u64(&out, meta->dropped.first);
	buf_u64(&out, meta->dropped.last);
	buf_str_prefixed(&out, meta->host_id);
	buf_str_prefixed(&out, meta->status);
	buf_str_prefixed(&out, meta->place);
	checksum_add(&out);
	return buf_bytes(&out);
}

bool spool_meta_read(str file, struct spool_meta *ret_meta, struct err *err)
{
	struct spool_meta meta = { 0 };
	str body;

	if (!checksum_verify(file, &body, err))
		return false;

	struct reader r = reader_of(body);

	if (!kind_check(&r, META_MAGIC, err))
		return false;
	meta.epoch = reader_u64(&r);
	meta.last_seq = reader_u64(&r);
	for (size_t i = 0; i < ARRAY_LEN(meta.counts); i++)
		meta.counts[i] = reader_u64(&r);
	meta.dropped.epoch = reader_u64(&r);
	meta.dropped.first = reader_u64(&r);
	meta.dropped.last = reader_u64(&r);
	meta.host_id = reader_str_prefixed(&r);
	meta.status = reader_str_prefixed(&r);
	if (reader_left(&r)) /* written since places are recorded */
		meta.place = reader_str_prefixed(&r);
	if (r.failed || reader_left(&r) || meta.host_id.len > SPOOL_KEY_MAX ||
	    meta.status.len > SPOOL_STATUS_MAX)
		return err_set(err, ERR_INVALID, "fields do not match the length");
	*ret_meta = meta;
	return true;
}
