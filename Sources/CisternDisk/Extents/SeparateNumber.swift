/// The number of a record that is a separate value. The file never uses a number again.
struct SeparateNumber: Sendable, Hashable, Comparable {
  /// The limit of numbers: an address has 47 bits for them.
  static let limit: UInt64 = 1 << 47

  /// The number, for addresses and keys of the file.
  let number: UInt64

  static func < (left: SeparateNumber, right: SeparateNumber) -> Bool { left.number < right.number }
}
