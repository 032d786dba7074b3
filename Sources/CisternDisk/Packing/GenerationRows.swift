import LMDB

/// The rows of generations, with which records and their counts are named.
protocol GenerationRows: ~Copyable, ~Escapable {
  /// Returns the counts of a live generation, or nil for a dead one.
  borrowing func counts(of generation: Generation) throws(LMDBError) -> GenerationCounts?

  mutating func putCounts(_ counts: GenerationCounts, of generation: Generation) throws(LMDBError)

  /// Stores which generation a number names.
  mutating func putPartitionNumber(_ number: PartitionNumber, of generation: Generation) throws(LMDBError)

  /// Removes the rows of a dead generation after its purge: its name, and the row that states that it is dead.
  mutating func endGeneration(_ generation: Generation, named number: PartitionNumber?) throws(LMDBError)
}
