#include "side_band_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct side_band_record record;
	struct err err;

	if (side_band_record_read((str){ (const char *)data, size }, &record, &err) &&
	    (record.build_id_len > SIDE_BAND_BUILD_ID_MAX || record.path.len > size))
		__builtin_trap();
	return 0;
}
