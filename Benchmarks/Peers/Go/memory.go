package main

import (
	"fmt"
	"math"
	"math/rand"
	"runtime"
	"sort"
	"sync"
	"time"
)

// A store of numbers under keys of one type.
type store[K comparable] interface {
	get(key K) (int64, bool)
	set(key K, value int64)
}

type mutexMap[K comparable] struct {
	lock     sync.Mutex
	contents map[K]int64
}

func (m *mutexMap[K]) get(key K) (int64, bool) {
	m.lock.Lock()
	value, found := m.contents[key]
	m.lock.Unlock()
	return value, found
}

func (m *mutexMap[K]) set(key K, value int64) {
	m.lock.Lock()
	m.contents[key] = value
	m.lock.Unlock()
}

type syncMap[K comparable] struct{ contents sync.Map }

func (m *syncMap[K]) get(key K) (int64, bool) {
	value, found := m.contents.Load(key)
	if !found {
		return 0, false
	}
	return value.(int64), true
}

func (m *syncMap[K]) set(key K, value int64) { m.contents.Store(key, value) }

func intKey(rank int) int64 { return int64((uint64(rank) * 0x9E3779B97F4A7C15) >> 20) }

func stringKey(rank int) string { return fmt.Sprintf("user/%015d", intKey(rank)) }

// Returns the cumulative weights of ranks by Zipf's law with exponent 0.99, as in the harnesses of the other
// languages.
func zipf(count int) []float64 {
	cumulative := make([]float64, count)
	sum := 0.0
	for rank := range cumulative {
		sum += 1 / math.Pow(float64(rank+1), 0.99)
		cumulative[rank] = sum
	}
	return cumulative
}

func draw(cumulative []float64, count int, seed int64) []int {
	random := rand.New(rand.NewSource(seed))
	total := cumulative[len(cumulative)-1]
	ranks := make([]int, count)
	for index := range ranks {
		ranks[index] = sort.SearchFloat64s(cumulative, random.Float64()*total)
	}
	return ranks
}

func memory(subject, kind string, entries, requests int) {
	if kind == "int" {
		compareMemory(newStore[int64](subject), intKey, subject, kind, entries, requests)
	} else {
		compareMemory(newStore[string](subject), stringKey, subject, kind, entries, requests)
	}
}

func newStore[K comparable](subject string) func() store[K] {
	switch subject {
	case "Go map+mutex":
		return func() store[K] { return &mutexMap[K]{contents: map[K]int64{}} }
	case "Go sync.Map":
		return func() store[K] { return &syncMap[K]{} }
	}
	panic("no subject " + subject)
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var statistics runtime.MemStats
	runtime.ReadMemStats(&statistics)
	return float64(statistics.HeapAlloc)
}

func compareMemory[K comparable](
	makeStore func() store[K], key func(int) K, subject, kind string, entries, requests int,
) {
	before := heap()
	full := makeStore()
	for rank := 0; rank < entries; rank++ {
		full.set(key(rank), int64(rank))
	}
	report := func(workload string, threads int, metric string, value float64) {
		fmt.Printf("memory,%s/%s/%d,%s,%d,%s,%f\n", workload, kind, entries, subject, threads, metric, value)
	}
	report("space", 1, "bytes_per_entry", (heap()-before)/float64(entries))
	cumulative := zipf(entries)
	for threads := 1; threads <= 2; threads++ {
		ranks := make([][]int, threads)
		drawn := make([][]K, threads)
		for thread := range ranks {
			ranks[thread] = draw(cumulative, requests, int64(thread+1))
			// Each thread has its own new keys, which share no storage with the stored ones.
			made := map[int]K{}
			for _, rank := range ranks[thread] {
				own, found := made[rank]
				if !found {
					own = key(rank)
					made[rank] = own
				}
				drawn[thread] = append(drawn[thread], own)
			}
		}
		runtime.GC()
		report("hits", threads, "ns", measure(threads, requests, func(thread int) {
			for _, key := range drawn[thread] {
				if _, found := full.get(key); !found {
					panic("a miss")
				}
			}
		}))
		report("mix", threads, "ns", measure(threads, requests, func(thread int) {
			for index, key := range drawn[thread] {
				if index&3 == 3 {
					full.set(key, int64(ranks[thread][index]))
				} else if _, found := full.get(key); !found {
					panic("a miss")
				}
			}
		}))
	}
}

// Returns the median nanoseconds per operation of three passes, after one that does not count.
func measure(threads, operations int, body func(thread int)) float64 {
	costs := []float64{}
	for pass := 0; pass <= 3; pass++ {
		var ready, done sync.WaitGroup
		start := make(chan struct{})
		ready.Add(threads)
		done.Add(threads)
		for thread := 0; thread < threads; thread++ {
			go func(thread int) {
				ready.Done()
				<-start
				body(thread)
				done.Done()
			}(thread)
		}
		ready.Wait()
		began := time.Now()
		close(start)
		done.Wait()
		if pass > 0 {
			costs = append(costs, float64(time.Since(began).Nanoseconds())/float64(operations))
		}
	}
	return median(costs)
}

func median(values []float64) float64 {
	sort.Float64s(values)
	return values[len(values)/2]
}
