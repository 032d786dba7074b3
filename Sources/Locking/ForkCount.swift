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
@usableFromInline
package enum ForkCount {
  @usableFromInline
  final class Count: Sendable {
    @usableFromInline let value = Atomic<Int>(0)

    init() {
      pthread_atfork(nil, nil) { ForkCount.count.value.wrappingAdd(1, ordering: .relaxed) }
    }
  }

  @usableFromInline static let count = Count()

  @inlinable
  @inline(__always)
  package static var current: Int { count.value.load(ordering: .relaxed) }
}
