import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The number of forks between this process and the one in which the count began.
///
/// Reading it is a single load, which is faster than a system call for the process identifier.
///
/// In the child of a fork, a lock can stay locked forever, because the thread that holds it does not exist there.
/// Check the count before taking a lock.
enum ForkCount {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)

    init() {
      pthread_atfork(nil, nil) { ForkCount.count.value.wrappingAdd(1, ordering: .relaxed) }
    }
  }

  private static let count = Count()

  @inline(__always)
  static var present: Int { count.value.load(ordering: .relaxed) }
}
