// SPDX-License-Identifier: Apache-2.0
// Encodes a known set of OTLP profiles with OpenTelemetry's own protobuf code, and says which
// samples are in them: messages by another's encoder, for test_otlp.py.
//
//	go run . DIRECTORY
//
// Each message goes to NAME.pb and its samples to NAME.json. Times are those of `base` plus an
// offset that differs for every sample, so that the test can move them to now and ask for each.
package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	profiles "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"
)

const (
	base   = 1790000000000 // Unix ms
	period = 50_000_000    // ns of CPU per tick: 20 Hz
)

// What the querier has to find.
type expected struct {
	Type     string            `json:"type"`
	Labels   map[string]string `json:"labels"`
	Stack    []string          `json:"stack"` // root first, as report=collapsed names frames
	Value    int64             `json:"value"`
	OffsetMs int64             `json:"offset_ms"`
}

type message struct {
	name    string
	data    *profiles.ProfilesData
	samples []expected
}

func ns(offsetMs int64) uint64 { return uint64((base + offsetMs) * 1_000_000) }

// Tables that give out indexes; entry 0 is the zero value.
type dictionary struct {
	profiles.ProfilesDictionary
	strings map[string]int32
}

func newDictionary() *dictionary {
	d := &dictionary{strings: map[string]int32{}}
	d.str("")
	d.MappingTable = []*profiles.Mapping{{}}
	d.LocationTable = []*profiles.Location{{}}
	d.FunctionTable = []*profiles.Function{{}}
	d.LinkTable = []*profiles.Link{{}}
	d.AttributeTable = []*profiles.KeyValueAndUnit{{}}
	d.StackTable = []*profiles.Stack{{}}
	return d
}

func (d *dictionary) str(s string) int32 {
	if i, ok := d.strings[s]; ok {
		return i
	}
	i := int32(len(d.StringTable))
	d.strings[s] = i
	d.StringTable = append(d.StringTable, s)
	return i
}

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}

func number(n int64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}
}

func (d *dictionary) textRef(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValueStrindex{StringValueStrindex: d.str(s)}}
}

func (d *dictionary) attribute(key string, value *common.AnyValue) int32 {
	d.AttributeTable = append(d.AttributeTable,
		&profiles.KeyValueAndUnit{KeyStrindex: d.str(key), Value: value})
	return int32(len(d.AttributeTable) - 1)
}

func (d *dictionary) mapping(file string, attributes ...int32) int32 {
	d.MappingTable = append(d.MappingTable, &profiles.Mapping{MemoryStart: 0x1000,
		MemoryLimit: 0x9000, FilenameStrindex: d.str(file), AttributeIndices: attributes})
	return int32(len(d.MappingTable) - 1)
}

func (d *dictionary) line(function, file string, line int64) *profiles.Line {
	d.FunctionTable = append(d.FunctionTable, &profiles.Function{NameStrindex: d.str(function),
		FilenameStrindex: d.str(file)})
	return &profiles.Line{FunctionIndex: int32(len(d.FunctionTable) - 1), Line: line}
}

func (d *dictionary) location(kind string, mapping int32, address uint64, lines ...*profiles.Line) int32 {
	d.LocationTable = append(d.LocationTable, &profiles.Location{MappingIndex: mapping,
		Address: address, Lines: lines,
		AttributeIndices: []int32{d.attribute("profile.frame.type", text(kind))}})
	return int32(len(d.LocationTable) - 1)
}

// Leaf first.
func (d *dictionary) stack(locations ...int32) int32 {
	d.StackTable = append(d.StackTable, &profiles.Stack{LocationIndices: locations})
	return int32(len(d.StackTable) - 1)
}

func (d *dictionary) valueType(kind, unit string) *profiles.ValueType {
	return &profiles.ValueType{TypeStrindex: d.str(kind), UnitStrindex: d.str(unit)}
}

func of(d *dictionary, res []*common.KeyValue, list ...*profiles.Profile) *profiles.ResourceProfiles {
	return &profiles.ResourceProfiles{
		Resource:      &resource.Resource{Attributes: res},
		ScopeProfiles: []*profiles.ScopeProfiles{{Profiles: list}},
		SchemaUrl:     "https://opentelemetry.io/schemas/1.37.0",
	}
}

const cpu = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

// As OpenTelemetry's eBPF profiler sends them: timestamps alone, each a tick; kernel, native and
// interpreted frames; several resources.
func ticks() message {
	d := newDictionary()
	app := d.mapping("/usr/bin/go-app", d.attribute("process.executable.build_id.gnu", text("0a0b0c")),
		d.attribute("process.executable.build_id.htlhash", text("ffee")))
	kernel := d.mapping("[kernel.kallsyms]")
	native := d.location("native", app, 0x1234)
	syscall := d.location("kernel", kernel, 0, d.line("do_syscall_64", "", 0))
	read := d.location("kernel", kernel, 0, d.line("ksys_read", "", 0))
	python := d.location("cpython", 0, 0, d.line("handle", "web.py", 12))
	worker := []int32{d.attribute("thread.id", number(71)), d.attribute("thread.name", text("worker")),
		d.attribute("cpu.logical_number", number(1))}
	second := []int32{d.attribute("thread.id", number(72))}
	d.LinkTable = append(d.LinkTable, &profiles.Link{
		TraceId: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		SpanId:  []byte{1, 2, 3, 4, 5, 6, 7, 8}})

	profile := func(samples ...*profiles.Sample) *profiles.Profile {
		return &profiles.Profile{SampleType: d.valueType("samples", "count"), TimeUnixNano: ns(0),
			DurationNano: 5_000_000_000, PeriodType: d.valueType("cpu", "nanoseconds"),
			Period: period, ProfileId: []byte("0123456789abcdef"), Samples: samples}
	}
	first := of(d, []*common.KeyValue{
		{Key: "host.name", Value: text("go-node")},
		{Key: "service.name", Value: text("go-ticks")},
		{Key: "process.executable.name", Value: text("go-app")},
		{Key: "process.pid", Value: number(70)},
		{Key: "container.id", Value: text("c0ffee")},
	}, profile(
		&profiles.Sample{StackIndex: d.stack(read, syscall, native), AttributeIndices: worker,
			TimestampsUnixNano: []uint64{ns(10), ns(20), ns(30)}},
		&profiles.Sample{StackIndex: d.stack(python, native), AttributeIndices: second, LinkIndex: 1,
			TimestampsUnixNano: []uint64{ns(40)}},
	))
	other := of(d, []*common.KeyValue{
		{Key: "host.name", Value: text("go-node")},
		{Key: "process.executable.name", Value: text("go-other")},
	}, profile(&profiles.Sample{StackIndex: d.stack(native), TimestampsUnixNano: []uint64{ns(50)}}))

	process := map[string]string{"node": "go-node", "service_name": "go-ticks", "comm": "go-app",
		"container_id": "c0ffee", "pid": "70"}
	with := func(more map[string]string) map[string]string {
		all := map[string]string{}
		for k, v := range process {
			all[k] = v
		}
		for k, v := range more {
			all[k] = v
		}
		return all
	}
	inKernel := []string{"go-app+0x1234", "do_syscall_64", "ksys_read"}
	onWorker := with(map[string]string{"thread_id": "71", "thread_name": "worker", "cpu": "1"})
	return message{"ticks", &profiles.ProfilesData{Dictionary: &d.ProfilesDictionary,
		ResourceProfiles: []*profiles.ResourceProfiles{first, other}}, []expected{
		{cpu, onWorker, inKernel, period, 10},
		{cpu, onWorker, inKernel, period, 20},
		{cpu, onWorker, inKernel, period, 30},
		{cpu, with(map[string]string{"thread_id": "72",
			"trace_id": "0102030405060708090a0b0c0d0e0f10", "span_id": "0102030405060708"}),
			[]string{"go-app+0x1234", "handle"}, period, 40},
		// who names no service is known by comm
		{cpu, map[string]string{"node": "go-node", "comm": "go-other", "service_name": "go-other"},
			[]string{"go-app+0x1234"}, period, 50},
	}}
}

// A heap: one value and no time of its own; every name and text by index; inlined frames.
func aggregated() message {
	d := newDictionary()
	app := d.mapping("/opt/heap", d.attribute("process.executable.build_id.go", d.textRef("go/id")))
	inlined := d.location("native", app, 0x40, d.line("inner", "a.c", 3), d.line("outer", "a.c", 9))
	leaf := d.location("native", app, 0x50)
	heap := &profiles.Profile{SampleType: d.valueType("inuse_space", "bytes"), TimeUnixNano: ns(60),
		PeriodType: d.valueType("space", "bytes"), Period: 524288, Samples: []*profiles.Sample{
			{StackIndex: d.stack(leaf, inlined), Values: []int64{4096},
				AttributeIndices: []int32{d.attribute("size.class", d.textRef("large"))}},
			{StackIndex: d.stack(inlined), Values: []int64{17}},
		}}
	res := []*common.KeyValue{
		{KeyStrindex: d.str("service.name"), Value: d.textRef("go-heap")},
		{KeyStrindex: d.str("host.name"), Value: d.textRef("go-node")},
		{Key: "deployment.ring", Value: number(3)},
	}
	labels := func(size string) map[string]string {
		return map[string]string{"service_name": "go-heap", "node": "go-node",
			"deployment_ring": "3", "size_class": size}
	}
	const kind = "memory:inuse_space:bytes:space:bytes"
	return message{"aggregated", &profiles.ProfilesData{Dictionary: &d.ProfilesDictionary,
		ResourceProfiles: []*profiles.ResourceProfiles{of(d, res, heap)}}, []expected{
		{kind, labels("large"), []string{"outer", "inner", "heap+0x50"}, 4096, 60},
		{kind, labels(""), []string{"outer", "inner"}, 17, 60},
	}}
}

// A value beside each time: CPU time and time off the CPU in one resource.
func valued() message {
	d := newDictionary()
	app := d.mapping("/bin/wait", d.attribute("process.executable.build_id.htlhash", text("ab01")))
	stack := d.stack(d.location("native", app, 0x77))
	onCPU := &profiles.Profile{SampleType: d.valueType("cpu", "nanoseconds"), TimeUnixNano: ns(0),
		PeriodType: d.valueType("cpu", "nanoseconds"), Period: period, Samples: []*profiles.Sample{
			{StackIndex: stack, Values: []int64{1, 300}, TimestampsUnixNano: []uint64{ns(70), ns(80)}},
		}}
	offCPU := &profiles.Profile{SampleType: d.valueType("off_cpu", "nanoseconds"), TimeUnixNano: ns(0),
		PeriodType: d.valueType("cpu", "nanoseconds"), Period: period, Samples: []*profiles.Sample{
			{StackIndex: stack, Values: []int64{5_000_000_000}, TimestampsUnixNano: []uint64{ns(90)}},
		}}
	res := []*common.KeyValue{{Key: "service.name", Value: text("go-valued")}}
	labels := map[string]string{"service_name": "go-valued"}
	frames := []string{"wait+0x77"}
	return message{"valued", &profiles.ProfilesData{Dictionary: &d.ProfilesDictionary,
		ResourceProfiles: []*profiles.ResourceProfiles{of(d, res, onCPU, offCPU)}}, []expected{
		{cpu, labels, frames, 1, 70},
		{cpu, labels, frames, 300, 80},
		{"off_cpu:off_cpu:nanoseconds:cpu:nanoseconds", labels, frames, 5_000_000_000, 90},
	}}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: go run . DIRECTORY")
	}
	for _, m := range []message{ticks(), aggregated(), valued()} {
		bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m.data)
		if err != nil {
			log.Fatal(err)
		}
		samples, err := json.MarshalIndent(m.samples, "", " ")
		if err != nil {
			log.Fatal(err)
		}
		for suffix, content := range map[string][]byte{".pb": bytes, ".json": append(samples, '\n')} {
			if err := os.WriteFile(filepath.Join(os.Args[1], m.name+suffix), content, 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
}
