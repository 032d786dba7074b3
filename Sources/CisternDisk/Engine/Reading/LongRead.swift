import LMDB
import Locking

/// A read of the whole file, such as a backup. It ends early when the store needs the pages of its snapshot.
final class LongRead: Sendable {
  /// The reason for which a read ends early.
  enum Interruption: Sendable {
    /// The caller's task was cancelled.
    case cancelled
    /// The store is closed.
    case closed
    /// The writer thread has replaced the file.
    case fileReplaced
    /// The writer thread has no free page left, and the snapshot of the read keeps pages.
    case roomNeeded
  }

  /// The signal that ends LMDB's copy of the file.
  let copyStop = CopyStop()
  private let reason = Guarded<Interruption?>(nil)

  /// The reason for which the read must end, or nil.
  var interruption: Interruption? { reason.withLock { $0 } }

  /// Asks the read to end. The first reason stays.
  func interrupt(_ interruption: Interruption) {
    reason.withLock { $0 = $0 ?? interruption }
    copyStop.stop()
  }

  /// Throws if the read must end.
  func requireUninterrupted() throws(LMDBError) {
    guard interruption == nil else {
      throw LMDBError(.closed, operation: "read the file", message: "the read was interrupted")
    }
  }
}

/// The long reads of an engine.
final class LongReads: Sendable {
  private struct State {
    var running: [ObjectIdentifier: LongRead] = [:]
    var isClosed = false
  }

  private let state = Guarded(State())

  /// Runs `body`, during which ``interrupt(_:)`` reaches the read.
  func run<Result>(_ read: LongRead, _ body: (LongRead) throws -> Result) rethrows -> Result {
    let isClosed = state.withLock { state in
      state.running[ObjectIdentifier(read)] = read
      return state.isClosed
    }
    defer { state.withLock { $0.running[ObjectIdentifier(read)] = nil } }
    if isClosed { read.interrupt(.closed) }
    return try body(read)
  }

  /// Asks all running reads to end. After ``LongRead/Interruption/closed``, also all later ones.
  func interrupt(_ interruption: LongRead.Interruption) {
    let reads = state.withLock { state in
      if case .closed = interruption { state.isClosed = true }
      return Array(state.running.values)
    }
    for read in reads { read.interrupt(interruption) }
  }
}
