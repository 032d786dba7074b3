import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Counts the forks that lie between this process and the one in which the count began.
///
/// An environment that was inherited over a fork works, undetected, and damages the parent's. Asking the system for the
/// process's number would cost a read a tenth of its time, so that reads compare this count; what is rarer asks.
@usableFromInline
final class ForkWatch: Sendable {
  @usableFromInline
  static let shared = ForkWatch()

  @usableFromInline
  let count = Atomic<Int>(0)

  private init() {
    // The handler runs in the child before fork returns there. `shared` exists by then: whoever forks with an
    // environment open has come through here.
    pthread_atfork(nil, nil) { ForkWatch.shared.count.wrappingAdd(1, ordering: .relaxed) }
  }
}
