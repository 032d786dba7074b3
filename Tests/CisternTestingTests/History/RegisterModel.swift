import CisternTesting

/// A model of one value or none. The value may get lost if `forgets` is true.
struct RegisterModel: SequentialModel {
  enum Operation: Sendable, Hashable {
    case set(Int)
    case removed
    case found(Int)
    case missed
    /// An update replaced the value in one step.
    case updated(from: Int?, to: Int?)
  }

  let forgets: Bool

  var initialState: Int? { nil }

  func apply(_ operation: Operation, to state: inout Int?) -> Bool {
    let found = state
    switch operation {
    case .set(let value):
      state = value
      return true
    case .removed:
      state = nil
      return true
    case .found(let value):
      return found == value
    case .missed:
      state = nil
      return forgets || found == nil
    case .updated(let old, let new):
      state = new
      return found == old || forgets && old == nil
    }
  }
}
