#pragma once
#define BPF_CORE_READ(p, member) ((p)->member)
