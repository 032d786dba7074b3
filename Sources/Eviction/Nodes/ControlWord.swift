/// Operations on the control word of a group: eight control bytes, one for each slot.
///
/// A control byte says that its slot is empty, that it was freed, or that it holds a key with these seven hash bits.
/// A few operations on the word examine all eight bytes at once.
@usableFromInline
package enum ControlWord {
  /// The byte of an empty slot. The search for a key ends at a group that contains one.
  @inlinable package static var emptyByte: UInt64 { 0x80 }
  /// The byte of a freed slot. A search continues past it, and an insertion may reuse it.
  @inlinable package static var freedByte: UInt64 { 0xFE }
  @inlinable package static var allEmpty: UInt64 { 0x8080_8080_8080_8080 }
  @inlinable package static var lowBits: UInt64 { 0x0101_0101_0101_0101 }
  @inlinable package static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  /// Returns the control byte for a key's fingerprint.
  @inlinable
  package static func byte(_ fingerprint: UInt32) -> UInt64 { UInt64(fingerprint & 0x7F) }

  /// Returns a word with the control byte for a fingerprint in all eight places.
  @inlinable
  package static func pattern(_ fingerprint: UInt32) -> UInt64 { byte(fingerprint) &* lowBits }

  /// Returns the high bit of each byte that may equal the pattern's byte.
  ///
  /// The result has no false negatives. The byte above a match can be a false positive, so the caller compares the
  /// keys.
  @inlinable
  package static func matches(_ word: UInt64, _ pattern: UInt64) -> UInt64 {
    let difference = word ^ pattern
    return (difference &- lowBits) & ~difference & highBits
  }

  /// Returns the high bit of each empty byte.
  @inlinable
  package static func empty(_ word: UInt64) -> UInt64 { word & ~(word &<< 6) & highBits }

  /// Returns the high bit of each byte that is empty or freed.
  @inlinable
  package static func available(_ word: UInt64) -> UInt64 { word & highBits }

  /// Returns whether the high bit of the byte at an offset is set.
  @inlinable
  package static func isSet(_ highBits: UInt64, at offset: Int) -> Bool {
    highBits &>> UInt64(truncatingIfNeeded: offset &* 8) & 0x80 != 0
  }

  /// Returns the word with the byte at an offset replaced.
  @inlinable
  package static func setting(_ byte: UInt64, at offset: Int, in word: UInt64) -> UInt64 {
    let shift = UInt64(truncatingIfNeeded: offset &* 8)
    return word & ~(0xFF &<< shift) | byte &<< shift
  }

  /// Returns the offsets of the slots that hold an entry.
  @inlinable
  package static func full(_ word: UInt64) -> Offsets { Offsets(bits: ~word & highBits) }

  /// The offsets of the bytes whose high bit is set, in ascending order.
  @usableFromInline
  package struct Offsets: Sequence, IteratorProtocol {
    @usableFromInline var bits: UInt64

    @inlinable
    package init(bits: UInt64) {
      self.bits = bits
    }

    @inlinable
    package mutating func next() -> Int? {
      guard bits != 0 else { return nil }
      defer { bits &= bits &- 1 }
      return bits.trailingZeroBitCount &>> 3
    }
  }
}
