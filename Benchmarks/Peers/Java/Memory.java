import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.IntFunction;

/** Caffeine as a memory tier, under the workloads of MemoryComparison.swift. */
final class Memory<K> {
  private static final int WARM_UPS = 5;
  private static final int PASSES = 3;
  /** Measures the processor time of all threads, including those of the cache, the compiler and the collector. */
  private static final OperatingSystemMXBean PROCESS =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private interface Body {
    /** Returns the number of misses. */
    int run(int thread);
  }

  private final String subject;
  private final String kind;
  private final IntFunction<K> makeKey;
  private final int entries;
  private final int requests;

  Memory(String subject, String kind, IntFunction<K> makeKey, int entries, int requests) {
    if (!subject.equals("Caffeine")) throw new IllegalArgumentException("no subject " + subject);
    this.subject = subject;
    this.kind = kind;
    this.makeKey = makeKey;
    this.entries = entries;
    this.requests = requests;
  }

  void run() throws InterruptedException {
    Integer[] values = new Integer[entries];
    for (int rank = 0; rank < entries; rank++) values[rank] = rank;
    long before = heap();
    Cache<K, Integer> full = cache(entries * 2);
    for (int rank = 0; rank < entries; rank++) full.put(key(makeKey.apply(rank)), values[rank]);
    full.cleanUp();
    report("space", 1, "bytes_per_entry", (double) (heap() - before) / entries);
    // The measured space excludes the values, so they must stay alive until here.
    if (values[0] == null) throw new IllegalStateException();

    double[] cumulative = Peer.zipf(entries);
    for (int threads = 1; threads <= 2; threads++) {
      int[][] ranks = new int[threads][];
      Object[][] drawn = new Object[threads][];
      for (int thread = 0; thread < threads; thread++) {
        ranks[thread] = Peer.draw(cumulative, requests, thread + 1);
        drawn[thread] = ownKeys(ranks[thread]);
      }
      measure("hits", threads, thread -> {
        int misses = 0;
        for (Object key : drawn[thread]) if (full.getIfPresent(key) == null) misses++;
        return misses;
      });
      measure("mix", threads, thread -> {
        int misses = 0;
        for (int index = 0; index < requests; index++) {
          Object key = drawn[thread][index];
          if ((index & 3) == 3) full.put(key(key), values[ranks[thread][index]]);
          else if (full.getIfPresent(key) == null) misses++;
        }
        return misses;
      });
      Cache<K, Integer> small = cache(entries / 10);
      measure("load", threads, thread -> {
        int misses = 0;
        for (int index = 0; index < requests; index++) {
          Object key = drawn[thread][index];
          if (small.getIfPresent(key) != null) continue;
          misses++;
          small.put(key(key), values[ranks[thread][index]]);
        }
        return misses;
      });
    }
  }

  private static <K> Cache<K, Integer> cache(int capacity) {
    return Caffeine.newBuilder().maximumSize(capacity).build();
  }

  @SuppressWarnings("unchecked")
  private K key(Object key) {
    return (K) key;
  }

  /** Returns new keys, one per rank. None of them is a stored object. A string caches its hash after the first use. */
  private Object[] ownKeys(int[] ranks) {
    Map<Integer, Object> made = new HashMap<>();
    Object[] keys = new Object[ranks.length];
    for (int index = 0; index < ranks.length; index++) keys[index] = made.computeIfAbsent(ranks[index], makeKey::apply);
    return keys;
  }

  private void measure(String workload, int threads, Body body) throws InterruptedException {
    double[] costs = new double[PASSES];
    int[] misses = new int[threads];
    long processor = 0;
    for (int pass = -WARM_UPS; pass < PASSES; pass++) {
      if (pass == 0) processor = PROCESS.getProcessCpuTime();
      CountDownLatch start = new CountDownLatch(1);
      CountDownLatch done = new CountDownLatch(threads);
      for (int number = 0; number < threads; number++) {
        int thread = number;
        new Thread(() -> {
          try {
            start.await();
          } catch (InterruptedException interruption) {
            return;
          }
          misses[thread] = body.run(thread);
          done.countDown();
        }).start();
      }
      long began = System.nanoTime();
      start.countDown();
      done.await();
      if (pass >= 0) costs[pass] = (double) (System.nanoTime() - began) / requests;
    }
    int sum = 0;
    for (int count : misses) sum += count;
    processor = PROCESS.getProcessCpuTime() - processor;
    report(workload, threads, "ns", Peer.median(costs));
    report(workload, threads, "processor_ns", (double) processor / PASSES / requests / threads);
    report(workload, threads, "miss_ratio", (double) sum / requests / threads);
  }

  private void report(String workload, int threads, String metric, double value) {
    System.out.println(
        "memory," + workload + "/" + kind + "/" + entries + "," + subject + "," + threads + "," + metric + "," + value);
  }

  private static long heap() throws InterruptedException {
    for (int turn = 0; turn < 3; turn++) {
      System.gc();
      Thread.sleep(50);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
