@testable import CisternCore

extension ErasedChange {
  /// The number of the change; zero for the mark of a loss. In these tests, keys are strings and values are integers.
  var number: UInt64 { marksLoss ? 0 : change(of: Change<String, Int>.self).number }
}
