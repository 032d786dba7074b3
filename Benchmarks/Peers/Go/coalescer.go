package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// A call that requests `key`. A leader runs `load`.
type ask func(key string, load func())

func coalescer(subject string, callers int) {
	var asking ask
	switch subject {
	case "Go singleflight":
		group := &singleflight.Group{}
		asking = func(key string, load func()) {
			group.Do(key, func() (interface{}, error) {
				load()
				return key, nil
			})
		}
	case "goroutines alone":
		// The reference: each goroutine runs its own load, without any lookup.
		asking = func(key string, load func()) { load() }
	default:
		fail("no subject " + subject)
	}
	report := func(workload string, value float64) {
		fmt.Printf("coalescer,%s,%s,1,ns,%f\n", workload, subject, value)
	}
	report("one key", repeat(func(number int) float64 {
		key := fmt.Sprint(number)
		return together(callers, asking, func(int) string { return key })
	}))
	report("many keys", repeat(func(number int) float64 {
		keys := make([]string, callers)
		for caller := range keys {
			keys[caller] = fmt.Sprintf("%d/%d", number, caller)
		}
		return together(callers, asking, func(caller int) string { return keys[caller] })
	}))
	if subject == "goroutines alone" {
		return
	}
	const calls = 10_000
	keys := make([]string, calls)
	report("alone", repeat(func(number int) float64 {
		for call := range keys {
			keys[call] = fmt.Sprintf("%d/%d", number, call)
		}
		started := time.Now()
		for _, key := range keys {
			asking(key, func() {})
		}
		return float64(time.Since(started).Nanoseconds()) / calls
	}))
}

// Runs `callers` concurrent callers, each in a goroutine. The last one to arrive opens the door that loads wait for.
// Returns the nanoseconds per caller, from the first start to the last end.
func together(callers int, asking ask, key func(int) string) float64 {
	missing := int64(callers)
	door := make(chan struct{})
	var done sync.WaitGroup
	done.Add(callers)
	started := time.Now()
	for caller := 0; caller < callers; caller++ {
		go func(key string) {
			if atomic.AddInt64(&missing, -1) == 0 {
				close(door)
			}
			asking(key, func() { <-door })
			done.Done()
		}(key(caller))
	}
	done.Wait()
	return float64(time.Since(started).Nanoseconds()) / float64(callers)
}

// Returns the median of 100 runs, after 20 runs that do not count.
func repeat(body func(number int) float64) float64 {
	costs := []float64{}
	for number := 0; number < 120; number++ {
		cost := body(number)
		if number >= 20 {
			costs = append(costs, cost)
		}
	}
	return median(costs)
}
