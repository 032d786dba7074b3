/// The key of a set of items.
package struct IndexKey: Sendable, Hashable, Comparable {
  /// The number of bytes of a key in the file.
  static let size = 6
  /// The number of bits of a key, of a digest and of an address.
  static let bitCount = UInt64(size * 8)

  /// The key as a number. The order of keys is that of their numbers.
  package let number: UInt64

  /// Creates a key from a number of at most 48 bits.
  package init(_ number: UInt64) {
    precondition(number >> Self.bitCount == 0, "a key of an index has at most 48 bits")
    self.number = number
  }

  package static func < (left: IndexKey, right: IndexKey) -> Bool { left.number < right.number }

  /// Calls `body` with the key as it is in the file: a big-endian number of six bytes.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    unsafe withUnsafeBytes(of: (number << 16).bigEndian) {
      // In bounds: the number has eight bytes.
      unsafe body(UnsafeRawBufferPointer(rebasing: $0[..<Self.size]))
    }
  }
}
