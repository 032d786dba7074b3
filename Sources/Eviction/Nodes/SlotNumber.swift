/// The number of a slot in its shard's table. It is valid until the table is rebuilt.
///
/// It takes four bytes and has its own ``none``, because every entry stores several.
@usableFromInline
package struct SlotNumber: BitwiseCopyable, Sendable, Equatable {
  @usableFromInline package let rawValue: UInt32

  @inlinable
  package init(_ rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The number as an array index.
  @inlinable
  package var index: Int { Int(rawValue) }

  /// The absence of a slot.
  @inlinable
  package static var none: SlotNumber { SlotNumber(.max) }
}
