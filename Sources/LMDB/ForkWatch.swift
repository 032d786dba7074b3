import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Counts the forks between this process and the one that created the count.
///
/// An environment that was inherited across a fork appears to work, but damages the parent's data. Reads compare only
/// this count, because a call of `getpid` is much slower. Other operations compare the process ID as well.
@usableFromInline
final class ForkWatch: Sendable {
  @usableFromInline
  static let shared = ForkWatch()

  @usableFromInline
  let count = Atomic<Int>(0)

  private init() {
    // The handler runs in the child before `fork` returns there. `shared` is initialized by then, because every
    // environment refers to it.
    pthread_atfork(nil, nil) { ForkWatch.shared.count.wrappingAdd(1, ordering: .relaxed) }
  }
}
