// SPDX-License-Identifier: Apache-2.0
// chain - Go: main.main -> main.outer -> main.middle -> main.deep, beside goroutines that do the same
// and garbage that must be collected.
//
//	chain SECONDS    of wall time
package main

import (
	"os"
	"strconv"
	"sync"
	"time"
)

var sink uint64
var kept [64][]byte

//go:noinline
func deep(depth int) uint64 {
	if depth == 0 {
		sum := uint64(1)
		for i := uint64(0); i < 20000; i++ {
			sum = sum*1000003 + i
		}
		return sum
	}
	return deep(depth-1) + 1
}

//go:noinline
func middle(depth int) uint64 {
	kept[depth%len(kept)] = make([]byte, 4096)
	return deep(depth) + 1
}

//go:noinline
func outer(depth int) uint64 {
	return middle(depth) + 1
}

func spend(until time.Time) {
	for time.Now().Before(until) {
		sink += outer(20)
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(1)
	}
	until := time.Now().Add(time.Duration(seconds * 1e9))
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		spend(until)
	}()
	spend(until)
	all.Wait()
}
