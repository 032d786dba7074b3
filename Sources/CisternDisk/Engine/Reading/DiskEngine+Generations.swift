import CisternCore
import LMDB

// The generations of partitions, as readers learn them from the file.

extension DiskEngine {
  /// Returns the partition's generation as of the transaction's snapshot or later.
  ///
  /// If another process committed since, reads the generation from the file: that process may have removed all
  /// records.
  @inline(__always)
  func generation(of partition: Partition, in transaction: borrowing ReadTransaction, of file: DiskFile) -> Generation {
    let number = transaction.transactionNumber
    if number > file.knownTransaction.load(ordering: .acquiring),
      number > partition.knownTransaction.load(ordering: .acquiring)
    {
      learnGeneration(of: partition, in: transaction, of: file)
    }
    return partition.generation
  }

  @inline(never)
  private func learnGeneration(
    of partition: Partition, in transaction: borrowing ReadTransaction, of file: DiskFile
  ) {
    do {
      let name = MetaTable.partition(partition.name)
      let generation = try transaction.generation(forKey: name, in: file.meta) ?? .zero
      if let counts = try transaction.counts(of: generation, in: file.meta) { partition.counters.set(counts) }
      try partition.learnInvalidations(in: transaction, as: transaction.transactionNumber, of: file)
      partition.learn(generation: generation, transaction: transaction.transactionNumber)
    } catch {
      noteReadFailure(error, of: file.environment)
    }
  }

  /// Reads the generation of a partition from the current file.
  func learnGeneration(of partition: Partition) {
    if let file { learnGeneration(of: partition, from: file) }
  }

  /// Reads the generation of a partition from a file, which readers need not use yet.
  func learnGeneration(of partition: Partition, from file: DiskFile) {
    let environment = file.environment
    guard let transaction = beginRead(of: environment) else { return }
    learnGeneration(of: partition, in: transaction, of: file)
  }
}
