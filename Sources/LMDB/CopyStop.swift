import Locking

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A stop signal for a copy of an environment, which any thread can give.
///
/// LMDB has no call that ends a copy. The signal replaces the descriptor that LMDB writes to with one that is not
/// writable. The next write of the copy fails, and the snapshot of the copy ends with it.
package final class CopyStop: Sendable {
  private struct State {
    var isStopped = false
    /// The descriptor of the running copy.
    var descriptor: Int32?
  }

  private let state = Guarded(State())

  package init() {}

  /// Ends the running copy, and every copy that begins later.
  package func stop() {
    state.withLock { state in
      state.isStopped = true
      if let descriptor = state.descriptor { CopyStop.refuseWrites(to: descriptor) }
    }
  }

  /// Whether the signal was given.
  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Begins a copy to the descriptor.
  func begin(_ descriptor: Int32) {
    state.withLock { state in
      state.descriptor = descriptor
      if state.isStopped { CopyStop.refuseWrites(to: descriptor) }
    }
  }

  /// Ends the copy. The descriptor can be closed afterwards.
  func end() {
    state.withLock { $0.descriptor = nil }
  }

  /// Replaces the open file of the descriptor with one for reading only.
  ///
  /// Without a free descriptor, the copy runs to its end, and its result is discarded.
  private static func refuseWrites(to descriptor: Int32) {
    let source = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { return }
    _ = dup2(source, descriptor)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    close(source)
  }
}
