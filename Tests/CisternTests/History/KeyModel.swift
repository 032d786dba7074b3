import CisternTesting

/// What callers may see of one key, one after the other, its flights included. It forgets, or it does not: then a miss
/// where a value must have been is wrong, and so is a fetch, and so are two fetches at once.
struct KeyModel: SequentialModel {
  struct State: Hashable, Sendable {
    var entry = Entry.absent
    /// The value that was forgotten since the last write: an update that read it before may still replace it.
    var forgotten: Int?
  }

  enum Entry: Hashable, Sendable {
    case absent
    /// A flight is under way, which fetches this value.
    case loading(Int)
    /// A flight is under way, or is over, and has stored this value or nothing: whoever led it has left.
    case adrift(Int)
    case value(Int)
  }

  /// A load is two operations where it fetched: that it began, and how it ended.
  enum Operation: Hashable, Sendable {
    case set(Int)
    case removed
    /// Replaced in one step.
    case updated(from: Int?, to: Int?)
    /// A look-up found this.
    case found(Int)
    /// A look-up found nothing.
    case missed
    /// A load found nothing, and fetches this value.
    case began(Int)
    /// The load that fetched this value returned it. It was stored, unless something had overtaken the fetch.
    case landed(Int)
    /// The load that fetched this value failed.
    case failed(Int)
    /// A load found nothing, and fetched this value; but whoever began it left, and knows no more of it.
    case left(Int)
    /// A load returned a value that another had fetched, or that was there.
    case joined(Int)
    /// A load failed with the failure of another's fetch.
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
      // Nothing for nothing changes nothing: a flight goes on.
      if let new { state = State(entry: .value(new)) }
    case .found(let value):
      guard has(state, value) else { return false }
      state = State(entry: .value(value))
    case .missed: return lacks(&state)
    case .began(let value), .left(let value):
      if case .loading = state.entry { return false }
      guard lacks(&state) else { return false }
      if case .left = operation { state.entry = .adrift(value) } else { state.entry = .loading(value) }
    case .landed(let value):
      if state.entry == .loading(value) { state = State(entry: .value(value)) }
    case .failed(let value):
      if state.entry == .loading(value) { state.entry = .absent }
    case .joined(let value): return has(state, value) || state.entry == .loading(value)
    case .joinedFailure(let value): return state.entry == .loading(value) || state.entry == .adrift(value)
    }
    return true
  }

  /// Whether a look-up can find the value.
  private func has(_ state: State, _ value: Int) -> Bool {
    state.entry == .value(value) || state.entry == .adrift(value)
  }

  /// Whether a look-up can find none; forgets what there is, where that is how.
  private func lacks(_ state: inout State) -> Bool {
    guard case .value(let value) = state.entry else { return true }
    state = State(forgotten: value)
    return forgets
  }
}
