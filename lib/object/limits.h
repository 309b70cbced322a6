/*
 * limits - what one ELF file may make us do.
 */
#pragma once

enum {
	ELF_SEGMENTS_MAX = 64,         /* PT_LOADs that are kept; more: the file is refused */
	ELF_HEADERS_MAX = 65535,       /* program or section headers that are looked at */
	ELF_NOTE_BYTES_MAX = 64 << 10, /* of one note segment; the rest is not read */
	ELF_NAMES_MAX = 4 << 20,       /* bytes of section names; more: the file is refused */
	BUILD_ID_BYTES_MIN = 4,        /* shorter ones name nothing: the fleet has more files */
	BUILD_ID_BYTES_MAX = 64,       /* GNU's are 20; longer ones are no build ids */
};
