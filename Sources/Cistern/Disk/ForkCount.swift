import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How many forks lie between this process and the one that the count began in: one load, where asking the system for
/// the process's number would cost a tenth of a read.
///
/// Across a fork, a lock may stay locked for ever by a thread that is not there: whatever takes one looks here first.
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
