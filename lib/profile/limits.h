/*
 * limits - the bounds of the domain: what one label, stack, message may be.
 *
 * Each is checked where foreign bytes enter, before anything is allocated for them.
 */
#pragma once

enum {
	LABEL_NAME_MAX = 128, /* bytes; longer: the label is dropped, counted */
	LABEL_VALUE_MAX =
		2048,    /* bytes; longer: cut at a character, counted. Fits a b-tree entry */
	LABELS_MAX = 64, /* labels of a series or a sample; more: the message is refused */
	STACK_DEPTH_MAX = 1024, /* frames; deeper: the root side is cut, counted as too_deep */
	NAME_MAX_BYTES = 16384, /* bytes of a function's or a file's name; longer: cut, counted */
	TYPE_MAX = 256,         /* bytes of a profile type's id */
};

enum {
	MESSAGE_MAX = 64 << 20,         /* bytes of one message, decompressed */
	MESSAGE_TABLE_MAX = 1 << 22,    /* entries of any one table of a dictionary */
	MESSAGE_SAMPLES_MAX = 1 << 22,  /* samples of one message */
	MESSAGE_FRAMES_MAX = 1 << 24,   /* frames of all stacks of one message */
	MESSAGE_MEMORY_MAX = 512 << 20, /* bytes that decoding one message may take */
};
