import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Returns the nanoseconds since a fixed instant: of the clock, or of this process's processor time, which is more
/// reliable on a busy machine.
package func nanoseconds() -> UInt64 {
  usesProcessorTime.load(ordering: .relaxed) ? processorTime() : nanoseconds(of: CLOCK_MONOTONIC)
}

/// Returns the processor time of all threads of this process, in nanoseconds.
package func processorTime() -> UInt64 { nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) }

private func nanoseconds(of clock: clockid_t) -> UInt64 {
  var time = timespec()
  clock_gettime(clock, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

/// Set once, before the first measurement.
package let usesProcessorTime = Atomic(false)

/// Runs `body` on `threads` threads that begin together, and returns the nanoseconds until the last one ends. The
/// calling thread is the first of them.
///
/// The calling thread takes part, because a thread that only waits would be one too many. The scheduler could then put
/// two others on one processor for several milliseconds.
package func time(threads: Int, _ body: @escaping @Sendable (Int) -> Void) -> Double {
  guard threads > 1 else {
    let start = nanoseconds()
    body(0)
    return Double(nanoseconds() - start)
  }
  return withExtendedLifetime(Starting(threads: threads - 1)) { starting in
    let handles = (1..<threads).map { number in
      let work = Unmanaged.passRetained(
        ThreadWork {
          starting.wait(); body(number)
        })
      #if canImport(Darwin)
        var handle: pthread_t?
        pthread_create(
          &handle, nil,
          {
            Unmanaged<ThreadWork>.fromOpaque($0).takeRetainedValue().run(); return nil
          }, work.toOpaque())
        return handle!
      #else
        var handle = pthread_t()
        pthread_create(
          &handle, nil,
          {
            Unmanaged<ThreadWork>.fromOpaque($0!).takeRetainedValue().run(); return nil
          }, work.toOpaque())
        return handle
      #endif
    }
    starting.waitUntilReady()
    let start = nanoseconds()
    starting.start()
    body(0)
    for handle in handles { pthread_join(handle, nil) }
    let elapsed = Double(nanoseconds() - start)
    return usesProcessorTime.load(ordering: .relaxed) ? elapsed / Double(threads) : elapsed
  }
}

private final class ThreadWork {
  let run: () -> Void
  init(_ run: @escaping () -> Void) { self.run = run }
}

/// Holds threads until all of them have started.
private final class Starting: Sendable {
  private let missing: Atomic<Int>
  private let hasStarted = Atomic(false)

  init(threads: Int) {
    missing = Atomic(threads)
  }

  func wait() {
    missing.subtract(1, ordering: .acquiringAndReleasing)
    while !hasStarted.load(ordering: .acquiring) { sched_yield() }
  }

  func waitUntilReady() {
    while missing.load(ordering: .acquiring) > 0 { sched_yield() }
  }

  func start() {
    hasStarted.store(true, ordering: .releasing)
  }
}
