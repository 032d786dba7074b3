import CisternTesting
import CisternTestSupport

/// A model of the operations that callers see on one key, flights included. If `forgets` is false, a miss or a fetch
/// of a key that has a value is an error, and so are two concurrent fetches.
struct KeyModel: SequentialModel {
  struct State: Hashable, Sendable {
    var entry = Entry.absent
    /// The value that was forgotten since the last write. An update that read it before may still replace it.
    var forgotten: Int?
  }

  enum Entry: Hashable, Sendable {
    case absent
    /// A flight is running that fetches this value.
    case loading(Int)
    /// The leader of a flight left. The flight may still be running, or it ended and stored this value or nothing.
    case adrift(Int)
    case value(Int)
  }

  /// A load that fetched consists of two operations: its beginning and its end.
  enum Operation: Hashable, Sendable {
    case set(Int)
    case removed
    /// An update replaced the value in one step.
    case updated(from: Int?, to: Int?)
    /// A lookup found this value.
    case found(Int)
    /// A lookup found no value.
    case missed
    /// A load found no value and fetches this one.
    case began(Int)
    /// The load that fetched this value returned it. The value was stored, unless a write had overtaken the fetch.
    case completed(Int)
    /// The load that fetched this value failed.
    case failed(Int)
    /// A load found no value and fetched this one, but its caller left, so that the end of the flight is unknown.
    case left(Int)
    /// A load returned a value that another load had fetched, or that was cached.
    case joined(Int)
    /// A load failed with the error of another load's fetch.
    case joinedFailure(Int)
  }

  let forgets: Bool

  var initialState: State { State() }

  func apply(_ operation: Operation, to state: inout State) -> Bool {
    switch operation {
    case .set(let value): state = State(entry: .value(value))
    case .removed: state = State()
    case .updated(let old?, let new):
      guard has(state, old) || state.forgotten == old else { return false }
      state = State(entry: new.map { .value($0) } ?? .absent)
    case .updated(nil, let new):
      guard lacks(&state) else { return false }
      // An update that leaves no value is a removal: a flight continues, and its value is not stored.
      state = State(entry: new.map { .value($0) } ?? .absent)
    case .found(let value):
      guard has(state, value) else { return false }
      state = State(entry: .value(value))
    case .missed: return lacks(&state)
    case .began(let value), .left(let value):
      if case .loading = state.entry { return false }
      guard lacks(&state) else { return false }
      if case .left = operation { state.entry = .adrift(value) } else { state.entry = .loading(value) }
    case .completed(let value):
      if state.entry == .loading(value) { state = State(entry: .value(value)) }
    case .failed(let value):
      if state.entry == .loading(value) { state.entry = .absent }
    case .joined(let value): return has(state, value) || state.entry == .loading(value)
    case .joinedFailure(let value): return state.entry == .loading(value) || state.entry == .adrift(value)
    }
    return true
  }

  /// Returns whether a lookup can find the value.
  private func has(_ state: State, _ value: Int) -> Bool {
    state.entry == .value(value) || state.entry == .adrift(value)
  }

  /// Returns whether a lookup can find no value. Forgets the value if the model allows it.
  private func lacks(_ state: inout State) -> Bool {
    guard case .value(let value) = state.entry else { return true }
    state = State(forgotten: value)
    return forgets
  }
}
