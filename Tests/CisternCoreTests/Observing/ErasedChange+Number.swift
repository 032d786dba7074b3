@testable import CisternCore

extension ErasedChange {
  /// The number of a change of the type that the tests of the state machines use.
  var number: UInt64 { change(of: Change<String, Int>.self).number }
}
