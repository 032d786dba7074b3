import CisternCore
import LMDB

// The numbers of a dense file's partitions, which cleared generations keep until their purge.

extension Writer {
  /// Returns whether the next item or batch waits for a partition number.
  func lacksPartitionNumber(_ commit: CommitState) -> Bool {
    guard let numbers = extents?.partitionNumbers, commit.position < commit.group.count else { return false }
    var generations: [ObjectIdentifier: Generation] = [:]
    for index in commit.group.unit(from: commit.position) {
      let item = commit.group[index]
      if case .record = item.entry.write { generations[ObjectIdentifier(item.partition)] = item.partition.generation }
    }
    return numbers.areLacking(for: generations.values)
  }

  /// Purges dead generations, whose numbers can then name others. Without dead generations, gives up the next item or
  /// batch.
  ///
  /// The commit group waits for the purge, so no further transaction follows once the next item or batch has its
  /// numbers. No eviction of records frees a number. Returns false if the file has no room for a purge.
  func freePartitionNumbers(for commit: inout CommitState) throws(LMDBError) -> Bool {
    if deadGenerations.isEmpty { loadDeadGenerations() }
    guard !deadGenerations.isEmpty else {
      commit.skip(
        CisternError(
          .tooLarge, "the data file has values of 65,536 caches, and can have none of a further one",
          location: engine.directory))
      return true
    }
    let known = Set(deadGenerations)
    do throws(LMDBError) {
      while lacksPartitionNumber(commit), let generation = deadGenerations.last, known.contains(generation) {
        try purgeSome()
      }
    } catch {
      guard isAboutRoom(error) else { throw error }
      return false
    }
    commit.attempts.endStall()
    return true
  }
}
