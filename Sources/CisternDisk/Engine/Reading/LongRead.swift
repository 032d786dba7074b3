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
