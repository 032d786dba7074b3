import CSupport
import Locking

/// The saves of one draft, one after the other. A save would take a concurrent one of the same draft for another
/// writer.
///
/// The lock is free while a save runs, because a save calls the user's code.
struct SaveOrder: ~Copyable, Sendable {
  /// A save that blocks its thread until its turn.
  struct Waiting: Sendable {
    let thread: UInt32
    let turn: Monitor<Bool>
  }

  struct State: Sendable {
    /// The thread of the save that is in progress.
    var thread: UInt32?
    /// The later saves in order.
    var waiting: [Waiting] = []
  }

  /// The beginning of a save.
  enum Beginning: Sendable {
    case atOnce
    /// The user's code saves the draft inside a save on the same thread. It would wait for itself.
    case nested
    case after(Waiting)
  }

  private let state: Guarded<State>

  init() {
    state = Guarded(State())
  }

  /// The number of saves that wait, for tests.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Runs a save after the earlier saves of other threads.
  func perform<Result, Failure: Error>(_ save: () throws(Failure) -> Result) throws(Failure) -> Result {
    switch begin() {
    case .atOnce: break
    case .nested: return try save()
    case .after(let waiting): waiting.turn.wait { $0 ? () : nil }
    }
    defer { end() }
    return try save()
  }

  private func begin() -> Beginning {
    let thread = cistern_thread_number()
    return state.withLock { state -> Beginning in
      guard let saving = state.thread else {
        state.thread = thread
        return .atOnce
      }
      if saving == thread { return .nested }
      let waiting = Waiting(thread: thread, turn: Monitor(false))
      state.waiting.append(waiting)
      return .after(waiting)
    }
  }

  /// Gives the turn to the next save.
  private func end() {
    let next = state.withLock { state -> Waiting? in
      let next = state.waiting.isEmpty ? nil : state.waiting.removeFirst()
      state.thread = next?.thread
      return next
    }
    next?.turn.change { $0 = true }
  }
}
