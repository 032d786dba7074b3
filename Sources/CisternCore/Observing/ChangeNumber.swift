/// The place of a change in the order of the changes of its key. Numbers of one key ascend, with gaps.
///
/// ``Change/number`` is the same number, for users. A number does not wrap around.
@usableFromInline
package struct ChangeNumber: Sendable, Comparable {
  /// The number, for ``Change/number``.
  @usableFromInline let number: UInt64

  @inlinable
  package init(number: UInt64) {
    self.number = number
  }

  @inlinable
  package static func < (left: ChangeNumber, right: ChangeNumber) -> Bool { left.number < right.number }
}

extension Change {
  /// The number, which orders the changes of a key.
  var changeNumber: ChangeNumber { ChangeNumber(number: number) }
}
