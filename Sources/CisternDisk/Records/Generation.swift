import LMDB

/// The number of a partition's life in the file, between two of its clears. File keys begin with it.
///
/// The file has one sequence of numbers for all partitions, and never uses a number again. A number does not wrap
/// around: ``DiskKey/generationLimit`` bounds it.
package struct Generation: Sendable, Hashable, Comparable {
  /// The number, for the keys and rows of the file and for descriptions.
  package let number: UInt64

  @inline(__always)
  package init(number: UInt64) {
    self.number = number
  }

  /// The generation of a partition without records in the file.
  @inline(__always)
  static var zero: Generation { Generation(number: 0) }

  /// The first generation of a file.
  static var first: Generation { Generation(number: 1) }

  /// Returns the generation that begins next in the file.
  package func next() -> Generation { Generation(number: number + 1) }

  @inline(__always)
  package static func < (left: Generation, right: Generation) -> Bool { left.number < right.number }
}

extension Transaction where Self: ~Copyable, Self: ~Escapable {
  /// Returns the generation under the key, or nil if the table does not have the key.
  ///
  /// If the value is not a number, the result is not below ``DiskKey/generationLimit``.
  borrowing func generation(forKey key: [UInt8], in database: Database) throws(LMDBError) -> Generation? {
    try number(forKey: key, in: database).map { Generation(number: $0) }
  }
}
