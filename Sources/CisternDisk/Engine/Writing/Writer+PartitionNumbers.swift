import CisternCore
import LMDB

// The numbers of a dense file's partitions, which cleared generations keep until their purge.

extension Writer {
  /// Returns whether the next item or batch waits for a partition number.
  func lacksPartitionNumber(_ commit: CommitState) -> Bool {
    guard let names = extents?.names, names.isFull, commit.position < commit.group.count else { return false }
    return commit.group.unit(from: commit.position).contains { index in
      let item = commit.group[index]
      guard case .record = item.entry.write else { return false }
      return names.number(of: item.partition.generation) == nil
    }
  }

  /// Purges dead generations, whose numbers can then name others. Without dead generations, gives up the next item or batch.
  ///
  /// No eviction of records frees a number. Returns false if the file has no room for a purge.
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
      while let generation = deadGenerations.last, known.contains(generation) { try purgeSome() }
    } catch {
      guard isAboutRoom(error) else { throw error }
      return false
    }
    commit.attempts.endStall()
    return true
  }
}
