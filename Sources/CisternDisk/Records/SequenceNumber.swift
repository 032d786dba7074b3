/// The place of a record in the eviction order of the file, from the oldest record on.
///
/// A record has it in its fields, and the order has it as the key of the record's entry. A number does not wrap around:
/// ``limit`` bounds it.
package struct SequenceNumber: Sendable, Hashable, Comparable {
  /// The number, for the fields of records, the recency bits and descriptions.
  package let number: UInt64

  @inline(__always)
  package init(number: UInt64) {
    self.number = number
  }

  /// Creates the number under which the order has an entry.
  @inline(__always)
  init(orderKey: UInt) {
    number = UInt64(orderKey)
  }

  /// The number below that of the first record.
  static var zero: SequenceNumber { SequenceNumber(number: 0) }

  /// The limit of sequence numbers. No store writes this many records, so a greater number is a sign of damage.
  static var limit: SequenceNumber { SequenceNumber(number: 1 << 62) }

  /// A number that no record has.
  static var max: SequenceNumber { SequenceNumber(number: .max) }

  /// Returns the number of the next record.
  func next() -> SequenceNumber { SequenceNumber(number: number + 1) }

  /// The key of the record's entry in the order.
  @inline(__always)
  var orderKey: UInt { UInt(number) }

  @inline(__always)
  package static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.number < right.number }
}
