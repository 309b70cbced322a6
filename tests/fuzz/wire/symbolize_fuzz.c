// SPDX-License-Identifier: Apache-2.0
/*
 * Requests and responses of POST /symbolize: a decoded one can be encoded and decoded again.
 */
#include "wire/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ARENA arena = { 0 };
	str bytes = { (const char *)data, size };
	struct symbolize_request request, request_again;
	struct symbolize_response response, response_again;
	struct err err;

	if (symbolize_request_read(bytes, &request, &arena, &err) &&
	    (!symbolize_request_read(symbolize_request_write(&request, &arena), &request_again,
				     &arena, &err) ||
	     request_again.binary_count != request.binary_count))
		abort();
	if (symbolize_response_read(bytes, &response, &arena, &err) &&
	    (!symbolize_response_read(symbolize_response_write(&response, &arena), &response_again,
				      &arena, &err) ||
	     response_again.binary_count != response.binary_count))
		abort();
	return 0;
}
