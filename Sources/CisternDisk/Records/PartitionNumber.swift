/// The short number with which records name the generation of their partition.
///
/// The file gives a number to another generation only after the purge of the first one has ended.
struct PartitionNumber: Sendable, Hashable, Comparable {
  /// The number, for the fields of records and the rows of the file.
  let number: UInt16

  static func < (left: PartitionNumber, right: PartitionNumber) -> Bool { left.number < right.number }
}
